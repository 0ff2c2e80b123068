import type { ConsentRecord } from '../../../schemas/events/consent-recorded.js';
import { type GppStatement, readGppString } from '../../../schemas/iab/gpp-string.js';
import { areOptOuts, areSections, isOptedOut, tcDifferences } from '../../../schemas/iab/iab-agreement.js';
import { IabSignals } from '../../../schemas/iab/iab-signals.js';
import { countVendors, readTcString, type TcStatement } from '../../../schemas/iab/tc-string.js';
import { matchShape } from '../files/parse.js';
import type { Texts } from '../i18n/texts.js';
import type { ShownRecord } from './shown-record.js';

/** The disclosed values, and the sealed configuration that the record names. */
interface Shown extends Pick<ShownRecord, 'disclosed'> {
  readonly configuration: Pick<NonNullable<ShownRecord['configuration']>, 'iab'> | null;
}

type Consent = Pick<ConsentRecord, 'disclosures' | 'categories' | 'consent_type' | 'decision'>;

/**
 * Says in words what the strings of IAB say that a record discloses, and whether that is what the record and
 * the sealed configuration say.
 * @returns null: the record has none
 */
export function iabText(consent: Consent, { disclosed, configuration }: Shown, { record }: Texts): string | null {
  const { iab: texts } = record;
  if (consent.disclosures.iab === undefined) return null;
  const found = disclosed.find(({ name }) => name === 'iab');
  const stated = found === undefined ? null : matchShape(IabSignals, found.value);
  if (stated === null || !stated.ok) return texts.notShown;
  const { tc_string: tc, gpp_string: gpp } = stated.value;
  const settings = configuration?.iab ?? {};
  return [
    ...(tc === undefined ? [] : [tcText(readTcString(tc), consent, settings.tcf, texts)]),
    ...(gpp === undefined ? [] : [gppText(readGppString(gpp), consent, settings.gpp, texts)]),
  ].join(' ');
}

type Words = Texts['record']['iab'];
type Settings = NonNullable<NonNullable<ShownRecord['configuration']>['iab']>;
type GppSettings = NonNullable<Settings['gpp']>;

function tcText(stated: TcStatement | null, consent: Consent, settings: Settings['tcf'], words: Words): string {
  if (stated === null) return words.unreadableTc;
  const said = words.tc(
    stated.purposes.join(', '),
    stated.specialFeatures.join(', '),
    countVendors(stated.vendors),
    stated.vendorListVersion,
    new Date(stated.updated).toISOString().slice(0, 10),
  );
  if (settings === undefined) return `${said} ${words.noSettings}`;
  const differs = tcDifferences(stated, settings, answersOf(consent));
  return `${said} ${differs.length === 0 ? words.agrees : words.differs(differs.map((part) => words.parts[part]).join(', '))}`;
}

function gppText(stated: GppStatement | null, consent: Consent, settings: Settings['gpp'], words: Words): string {
  if (stated === null) return words.unreadableGpp;
  const { sections, others } = stated;
  const said = sections.map(({ section, optOuts, gpc }) => {
    const values = Object.entries(optOuts).map(([name, value]) => `${name}: ${words.optOuts[value]}`);
    return words.gpp(section, values.join(', '), gpc);
  });
  if (others.length > 0) said.push(words.otherSections(others.join(', ')));
  if (settings === undefined) return [...said, words.noSettings].join(' ');
  // A section that this program does not read, or none at all, agrees with nothing.
  if (!areSections(stated, settings)) return [...said, words.differs(words.sections)].join(' ');
  const isOut = statesOptOut(consent, settings);
  if (areOptOuts(stated, isOut ? 'opted_out' : 'not_opted_out')) return [...said, words.agrees].join(' ');
  // An opt-out that was recorded before stands beside a later permission.
  return [...said, isOut ? words.differs(words.optOut) : words.earlierOptOut].join(' ');
}

/** Whether the record says that the person opted out. */
function statesOptOut(consent: Consent, settings: GppSettings): boolean {
  if (consent.consent_type === 'do_not_sell_opt_out') return consent.decision === 'accepted';
  return isOptedOut(settings, answersOf(consent));
}

/** The answers that a record permits: a withdrawal may name the categories that were permitted before. */
function answersOf({ decision, categories }: Consent): Readonly<Record<string, boolean>> {
  return decision === 'withdrawn' || decision === 'rejected' ? {} : (categories ?? {});
}
