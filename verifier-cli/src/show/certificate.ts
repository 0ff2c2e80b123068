import { lateMembersOf, originOf, type SealedConsent, servicesOf } from '../../../schemas/events/consent-imported.js';
import { hasApprovalToken, isVouched } from '../../../schemas/events/consent-recorded.js';
import type { VendorList } from '../../../schemas/iab/vendor-list.js';
import { actOf, answersQuestion, OBJECTION_TYPE } from '../../../schemas/law/acts.js';
import { zonedTime } from '../../../schemas/text/time-zone.js';
import type { Texts } from '../i18n/texts.js';
import { byDayText, byMinute, dayText, momentText } from '../rendering/times-text.js';
import { decisionWord, type TrustSource } from '../rendering/wording.js';
import { operatorLines } from '../report/operator-statements.js';
import { scanFacts } from '../report/scan-text.js';
import { iabText } from './iab-text.js';
import { presentationText } from './presentation-text.js';
import { ruleLines } from './rule-text.js';
import { shownConsent } from './shown-consent.js';
import type { ShownRecord } from './shown-record.js';

/** Content of a record and its later events in words: names and values, in the order of a certificate. */
export type Certificate = readonly (readonly [string, string])[];

/** Values that say who the person is, the clearest first. */
const PERSON = ['signer_name', 'signer_email', 'signer_phone', 'visitor_id'] as const;

/**
 * Puts a consent or a recorded scan into words for a reader who knows nothing of ledgers.
 * @param list the vendor list that the configuration names, if it was given
 * @returns null if the event is neither, or cannot be read by this verifier
 */
export function certificateOf(shown: ShownRecord, texts: Texts, list: VendorList | null = null): Certificate | null {
  const { scan } = shown;
  return scan === null
    ? consentLines(shown, texts, list)
    : [[texts.report.scans.page, scan.url], ...scanFacts(scan, texts)];
}

function consentLines(shown: ShownRecord, texts: Texts, list: VendorList | null): Certificate | null {
  const consent = shownConsent(shown);
  if (consent === null) return null;
  const { record } = texts;
  const origin = originOf(consent);
  const zoned = (time: string): string => zonedDayText(time, shown.configuration?.time_zone, texts);
  const before = shown.proved.before === null ? null : zoned(byMinute(shown.proved.before));
  const iab = iabText(consent, shown, texts, list);
  return [
    ...(origin === null ? [] : [[record.origin, record.imported(origin.tool, before)] as const]),
    [record.decision, decisionText(consent, shown, texts)],
    ...ruleLines(consent, shown, texts),
    ...scopeLines(consent, shown, texts),
    ...purposeLines(consent, shown, texts),
    [record.by, personText(shown, texts)],
    [record.assurance, assuranceText(consent, texts)],
    ...processingLines(consent, shown, texts),
    [record.agreedText, textText(shown, texts)],
    [record.presentation.title, presentationText(consent, shown, texts)],
    ...(iab === null ? [] : [[record.iab.title, iab] as const]),
    ...siteLines(shown, texts),
    [
      record.existedBy,
      (shown.verdict === 'valid' ? before : null) ??
        (shown.root_given ? texts.words.notProved : unprovedText(shown, texts)),
    ],
    [record.claimedTime, zoned(origin?.claimed_at ?? consent.created_at)],
    // A record that permits nothing (any more) has no end of validity that a reader should see.
    ...(isOver(consent, shown)
      ? []
      : [
          [
            record.validUntil,
            consent.valid_until === null ? record.withoutEnd : dayText(consent.valid_until, texts),
          ] as const,
        ]),
    [record.afterwards, afterwardsText(shown, texts)],
  ];
}

function isOver({ decision }: SealedConsent, { superseded_by: next }: ShownRecord): boolean {
  return decision === 'rejected' || decision === 'withdrawn' || next !== null;
}

/**
 * As `dayText`, with the same moment by the clocks of a zone. UTC stands alone without a zone, and with one that this
 * runtime does not know.
 */
function zonedDayText(time: string, zone: string | undefined, texts: Texts): string {
  const utc = dayText(time, texts);
  const moment = Date.parse(time);
  const zoned = zone === undefined || Number.isNaN(moment) ? null : zonedTime(new Date(moment), zone);
  if (zone === undefined || zoned === null) return utc;
  const { year, month, day, clock, offset } = zoned;
  return texts.record.inZone(utc, `${day} ${texts.words.months[month - 1]} ${year}, ${clock}`, zone, offset);
}

/** Why no time by which the record existed is shown. */
export function unprovedText(
  { verdict, root_given: isRootGiven }: Pick<ShownRecord, 'verdict' | 'root_given'>,
  { record }: Texts,
): string {
  if (verdict === 'invalid') return record.invalidTime;
  return isRootGiven ? record.unstampedTime : record.uncheckedTime;
}

/** Why personal values are not shown. */
export function stateOfHidden(shown: Pick<ShownRecord, 'erased' | 'erasure' | 'key_lost'>, { record }: Texts): string {
  if (isErasureStanding(shown)) return record.erased;
  return shown.key_lost ? record.keyLost : record.withheld;
}

/** Returns whether the personal values count as erased. An invalid erasure erases nothing. */
export function isErasureStanding({ erased, erasure }: Pick<ShownRecord, 'erased' | 'erasure'>): boolean {
  return erased && (erasure === null || erasure.verdict === 'valid');
}

/** Returns the heading of a certificate. Only what is proved is called recorded, and never an imported consent. */
export function certificateTitle(shown: ShownRecord, { record }: Texts, trust: TrustSource = 'reader'): string {
  const { verdict, development } = shown;
  const consent = shownConsent(shown);
  if (consent !== null && originOf(consent) !== null) return record.importedTitle;
  return verdict === 'valid' && !development && trust === 'reader' ? record.recorded : record.statedOnly;
}

function decisionText(consent: SealedConsent, { configuration }: ShownRecord, texts: Texts): string {
  const { decision, consent_type: type, categories, language } = consent;
  const { yes, no } = texts.words;
  /** The title that the person saw, in quotation marks; the key if the package does not prove a title. */
  const nameOf = (key: string): string => {
    const title = configuration?.categories.find((category) => category.key === key)?.title ?? {};
    return Object.hasOwn(title, language) ? `“${title[language]}”` : key;
  };
  const services = new Map(
    (configuration?.categories ?? []).flatMap((one) => (one.services ?? []).map(({ key, name }) => [key, `“${name}”`])),
  );
  const chosen = [
    ...Object.entries(categories ?? {}).map(([key, isGranted]) => `${nameOf(key)} ${isGranted ? yes : no}`),
    ...Object.entries(servicesOf(consent) ?? {}).map(
      ([key, isGranted]) => `${services.get(key) ?? key} ${isGranted ? yes : no}`,
    ),
  ];
  if (type === OBJECTION_TYPE && decision === 'rejected' && categories !== null)
    return texts.words.objectedTo(Object.keys(categories).map(nameOf).join(', '));
  return `${decisionWord(actOf(consent), texts)} (${type}${chosen.length === 0 ? '' : `: ${chosen.join(', ')}`})`;
}

/** Says that a choice holds for all devices of an account. Nothing of the choice of a device. */
function scopeLines(consent: SealedConsent, { configuration }: ShownRecord, { record }: Texts): [string, string][] {
  return isOfAccount(consent) ? [[record.scope, record.ofAccount(configuration?.accounts?.person_space ?? null)]] : [];
}

function isOfAccount(consent: SealedConsent): boolean {
  return lateMembersOf(consent).scope === 'account' && isVouched(consent);
}

/** What a consent without categories was given for, as far as its type and the title of its text say so. */
function purposeLines(consent: SealedConsent, { text }: ShownRecord, { record }: Texts): [string, string][] {
  if (Object.keys({ ...consent.categories, ...servicesOf(consent) }).length > 0) return [];
  return [[record.purpose, record.purposeText(consent.consent_type, text?.title ?? null)]];
}

/**
 * For each category of the choice, what the configuration in which the person was asked states of it: purpose, ground,
 * recipients and period.
 */
function processingLines(
  { categories, language }: SealedConsent,
  shown: ShownRecord,
  texts: Texts,
): [string, string][] {
  const { record } = texts;
  const stated = (shown.configuration?.categories ?? []).filter(({ key }) => Object.hasOwn(categories ?? {}, key));
  const text = stated.map(({ key, title, purpose, lawful_basis: basis, recipients, services = [], retention_days }) => {
    const inWords = (texts: Readonly<Record<string, string>>) =>
      Object.hasOwn(texts, language) ? texts[language] : '';
    const receivers = [...new Set([...recipients, ...services.map(({ recipient }) => recipient)])];
    return record.processingOf({
      title: inWords(title) || key,
      purpose: inWords(purpose) || texts.words.unknown,
      basis: record.bases[basis],
      recipients: receivers.join(', '),
      days: retention_days,
    });
  });
  return text.length === 0 ? [] : [[record.processing, text.join(' ')]];
}

function personText(shown: ShownRecord, texts: Texts): string {
  const { disclosed, withheld, file } = shown;
  const { record } = texts;
  const values = new Map(disclosed.map(({ name, value }) => [name, value]));
  const parts = PERSON.flatMap((name) => {
    const value = values.get(name);
    return typeof value === 'string' ? [`${record.person[name]} ${value}`] : [];
  });
  if (parts.length > 0) return parts.join(', ');
  if (isErasureStanding(shown) || shown.key_lost) return stateOfHidden(shown, texts);
  if (withheld === 0) return record.noPerson;
  return file.kind === 'receipt' ? record.notInReceipts : record.notDisclosed;
}

function assuranceText(consent: SealedConsent, { record }: Texts): string {
  const { channel, identity_assurance: assurance, vouched } = consent;
  if (assurance === 'tenant_attested')
    return record.vouched(vouched.length === 0 ? null : vouched.join(', '), !hasApprovalToken(consent));
  return record.statedBy[channel];
}

function textText({ text }: ShownRecord, texts: Texts): string {
  const { record, words } = texts;
  if (text === null) return record.notInFile;
  const published = text.published_at === null ? null : dayText(text.published_at, texts);
  const title = text.title ?? record.unknownTitle;
  return record.textVersion(title, String(text.number ?? words.unknown), text.language, published);
}

function siteLines({ configuration, operator }: ShownRecord, texts: Texts): [string, string][] {
  const { record } = texts;
  return [
    ...(configuration === null ? [] : configurationLines(configuration, record)),
    ...operatorLines(operator, texts),
  ];
}

function configurationLines(
  { domain, controller, withdrawal_url: url }: NonNullable<ShownRecord['configuration']>,
  record: Texts['record'],
): [string, string][] {
  return [
    [record.website, domain],
    [record.controller, `${controller.legal_name}, ${controller.contact}`],
    [record.withdrawal, url ?? record.withdrawalNotStated],
  ];
}

/** @returns null if the file has no erasure of the record */
function erasureText({ erasure, erased }: ShownRecord, texts: Texts): string | null {
  const { record } = texts;
  if (erasure === null) return erased ? record.erasedUnmarked : null;
  if (erasure.verdict !== 'valid') return record.erasureUnproved(erasure.event_id);
  const { existed_by: existedBy } = erasure;
  const proved = existedBy === null ? record.erasureNoTime : record.erasureTime(byDayText(existedBy, texts));
  return record.erasure(record.reasons[erasure.reason], erasure.event_id, proved);
}

/** @returns null if the file has no later record of the person */
function successorText(shown: ShownRecord, texts: Texts): string | null {
  const { superseded_by: next } = shown;
  if (next === null) return null;
  const { record } = texts;
  const id = record.successorId(next.event_id, next.verdict === 'valid');
  const at = next.claimed_at === null ? texts.words.unknown : dayText(next.claimed_at, texts);
  const consent = shownConsent(shown);
  const type = consent?.consent_type ?? null;
  const isAnswer = type === null || answersQuestion(type);
  if (next.decision === 'withdrawn') return isAnswer ? record.withdrawn(id, at) : record.takenBack(id, at);
  return record.replaced(decisionWord(actOf({ consent_type: type, decision: next.decision }), texts), id, at);
}

function afterwardsText(shown: ShownRecord, texts: Texts): string {
  const { file, package_verdict: whole } = shown;
  const { record } = texts;
  const parts = [erasureText(shown, texts), successorText(shown, texts)].filter((part) => part !== null);
  if (parts.length > 0) return parts.join(' ');
  if (file.kind === 'receipt')
    return record.receiptShowsNoLater(file.exported_at === null ? record.itWasMade : momentText(file.exported_at));
  if (whole === 'invalid') return record.provesNoLater;
  const consent = shownConsent(shown);
  return consent !== null && isOfAccount(consent) ? record.accountShowsNoLater : record.showsNoLater;
}
