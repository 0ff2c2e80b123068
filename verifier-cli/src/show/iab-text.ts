import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import { type GppStatement, readGppString } from '../../../schemas/iab/gpp-string.js';
import {
  areOptOuts,
  areSections,
  claimingVendors,
  isOptedOut,
  tcDifferences,
} from '../../../schemas/iab/iab-agreement.js';
import { IabSignals } from '../../../schemas/iab/iab-signals.js';
import { countVendors, readTcString, type TcStatement } from '../../../schemas/iab/tc-string.js';
import type { VendorList } from '../../../schemas/iab/vendor-list.js';
import { OBJECTION_TYPE, OPT_OUT_TYPE } from '../../../schemas/law/acts.js';
import { matchShape } from '../files/parse.js';
import type { Texts } from '../i18n/texts.js';
import type { ShownRecord } from './shown-record.js';

/** The disclosed values, and the sealed configuration that the record names. */
interface Shown extends Pick<ShownRecord, 'disclosed'> {
  readonly configuration: Pick<NonNullable<ShownRecord['configuration']>, 'iab'> | null;
}

type Consent = Pick<
  SealedConsent,
  'disclosures' | 'categories' | 'consent_type' | 'decision' | 'created_at' | 'channel'
>;

/** A page may have stated a choice of an earlier day, in another time zone. */
const TWO_DAYS_MS = 2 * 86_400_000;

/**
 * Says in words what the IAB strings that a record discloses mean, and which parts were compared with the record and
 * the sealed configuration.
 * @param list the vendor list that the configuration names, or null if it was not given
 * @returns null if the record has none
 */
export function iabText(
  consent: Consent,
  { disclosed, configuration }: Shown,
  { record }: Texts,
  list: VendorList | null = null,
): string | null {
  const { iab: texts } = record;
  if (consent.disclosures.iab === undefined) return null;
  const found = disclosed.find(({ name }) => name === 'iab');
  const stated = found === undefined ? null : matchShape(IabSignals, found.value);
  if (stated === null || !stated.ok) return texts.notShown;
  const { tc_string: tc, gpp_string: gpp } = stated.value;
  if (consent.consent_type === OBJECTION_TYPE) return texts.objection;
  const settings = configuration?.iab ?? {};
  const said = [
    ...(tc === undefined ? [] : [tcText(readTcString(tc), consent, { settings: settings.tcf, list }, texts)]),
    ...(gpp === undefined ? [] : [gppText(readGppString(gpp), consent, settings.gpp, texts)]),
  ].join(' ');
  return consent.channel === 'import' ? `${texts.ofFormerTool} ${said}` : said;
}

type Words = Texts['record']['iab'];
type Settings = NonNullable<NonNullable<ShownRecord['configuration']>['iab']>;
type GppSettings = NonNullable<Settings['gpp']>;

interface TcContext {
  readonly settings: Settings['tcf'];
  readonly list: VendorList | null;
}

function tcText(stated: TcStatement | null, consent: Consent, { settings, list }: TcContext, words: Words): string {
  if (stated === null) return words.unreadableTc;
  const told = words.tc(
    stated.purposes.join(', '),
    stated.specialFeatures.join(', '),
    countVendors(stated.vendors),
    stated.vendorListVersion,
    new Date(stated.updated).toISOString().slice(0, 10),
  );
  const isOfItsDay = [stated.created, stated.updated].every(
    (time) => Math.abs(time - Date.parse(consent.created_at)) <= TWO_DAYS_MS,
  );
  const said = isOfItsDay ? told : `${told} ${words.otherDay}`;
  if (settings === undefined) return `${said} ${words.noSettings}`;
  const claiming = list === null ? null : claimingVendors(settings, list);
  const differs = tcDifferences(stated, settings, answersOf(consent), claiming);
  const claimed = countVendors(stated.vendorLegitimateInterests);
  return [
    said,
    differs.length === 0 ? words.tcAgrees : words.differs(differs.map((part) => words.parts[part]).join(', ')),
    // Used for SDKs that did not state it.
    ...(stated.hasOwnTexts ? [] : [words.standardTexts]),
    ...(claimed === 0 || claiming !== null || differs.includes('legitimate_interests')
      ? []
      : [words.interests(claimed)]),
  ].join(' ');
}

function gppText(stated: GppStatement | null, consent: Consent, settings: Settings['gpp'], words: Words): string {
  if (stated === null) return words.unreadableGpp;
  const { sections, others } = stated;
  const said = sections.map(({ section, optOuts, gpc }) => {
    const values = Object.entries(optOuts).map(([name, value]) => `${name}: ${words.optOuts[value]}`);
    return words.gpp(section, values.join(', '), gpc);
  });
  if (sections.length === 0) said.push(words.noSection);
  if (others.length > 0) said.push(words.otherSections(others.join(', ')));
  const isOptOut = consent.consent_type === OPT_OUT_TYPE && consent.decision === 'accepted';
  if (isOptOut && !areOptOuts(stated, 'opted_out')) said.push(words.noOptOut);
  const hasUnheardSignal = sections.some(
    ({ gpc, optOuts }) => gpc === true && Object.values(optOuts).includes('not_opted_out'),
  );
  if (hasUnheardSignal) said.push(words.signalBeside);
  if (settings === undefined) return [...said, words.noSettings].join(' ');
  // A section that this program cannot read, or a missing one, does not count as agreement.
  if (!areSections(stated, settings)) return [...said, words.differs(words.sections)].join(' ');
  const isOut = statesOptOut(consent, settings);
  if (areOptOuts(stated, isOut ? 'opted_out' : 'not_opted_out')) return [...said, words.gppAgrees].join(' ');
  // An earlier opt-out remains in force alongside a later permission.
  const isEarlier = !isOut && areOptOuts(stated, 'opted_out');
  return [...said, isEarlier ? words.earlierOptOut : words.differs(words.optOut)].join(' ');
}

/** Whether the record says that the person opted out. */
function statesOptOut(consent: Consent, settings: GppSettings): boolean {
  if (consent.consent_type === OPT_OUT_TYPE) return consent.decision === 'accepted';
  return isOptedOut(settings, answersOf(consent));
}

/** Returns the answers that a record permits. A withdrawal may name the categories that were permitted before. */
function answersOf({ decision, categories }: Consent): Readonly<Record<string, boolean>> {
  return decision === 'withdrawn' || decision === 'rejected' ? {} : (categories ?? {});
}
