import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import { Presentation } from '../../../schemas/evidence/presentation.js';
import { matchShape } from '../files/parse.js';
import type { Texts } from '../i18n/texts.js';
import { contradictionsOf } from './contradicted-presentation.js';
import type { ShownRecord } from './shown-record.js';

/** Says in words how the person was asked, and who states it. The ledger proves only that it was stated. */
export function presentationText(
  consent: Pick<SealedConsent, 'channel' | 'consent_type' | 'decision' | 'disclosures'>,
  { disclosed }: Pick<ShownRecord, 'disclosed'>,
  { record }: Texts,
): string {
  const { presentation: texts } = record;
  if (consent.disclosures.presentation === undefined) return texts.notStated;
  const stated = statedPresentation({ disclosed });
  if (stated === null) return texts.notShown;
  const contradicted = contradictionsOf(stated, consent).map((one) => ` ${texts.contradicts[one]}`);
  return `${partsOf(stated, texts).join(' ')} ${texts.statedBy[consent.channel]}${contradicted.join('')}`;
}

/** The disclosed presentation of a record, or null if it is not disclosed, or unreadable. */
export function statedPresentation({ disclosed }: Pick<ShownRecord, 'disclosed'>): Presentation | null {
  const found = disclosed.find(({ name }) => name === 'presentation');
  const stated = found === undefined ? null : matchShape(Presentation, found.value);
  return stated?.ok ? stated.value : null;
}

function partsOf(stated: Presentation, texts: Texts['record']['presentation']): string[] {
  const { layout, layout_version: version, theme, layer, language, colour_scheme: scheme } = stated;
  const { size_class: size, text_size: text, controls, preselected, control, elapsed_ms: elapsed, sdk } = stated;
  const { notice, account, rule } = stated;
  const given = <T>(value: T | undefined, say: (value: T) => string): string[] =>
    value === undefined ? [] : [say(value)];
  return [
    ...given(layout, (name) => texts.layout(name, version ?? null)),
    ...given(theme, texts.theme),
    ...given(layer, texts.layer),
    ...given(language, texts.language),
    ...given(scheme, (name) => texts.schemes[name]),
    ...given(size, (name) => texts.sizes[name]),
    ...given(text, (name) => texts.textSizes[name]),
    ...given(controls, (names) => texts.controls(names.join(', '))),
    ...given(preselected, (what) => texts.preselected[what]),
    ...given(control, texts.used),
    ...given(notice, ({ text: words, language: tag, version: number }) => texts.notice(words, tag, number)),
    ...given(account, ({ text: words, language: tag }) => texts.account(words, tag)),
    ...given(rule, texts.rule),
    ...given(elapsed, (ms) => texts.elapsed(ms / 1_000)),
    ...given(sdk, texts.sdk),
  ];
}
