import { longer, type Validity } from '../../../schemas/law/periods.js';
import type { Outcome } from '../findings/checks.js';
import { type Finding, finding } from '../findings/finding.js';
import { CLOCK_TOLERANCE_MS } from '../time/claimed-times.js';
import type { ConfigurationTerm, Contradiction, LongestValidity, VersionTerm } from './notice-history.js';
import type { NoticePlace } from './place.js';

/** Claims of a consent that depend on the notices in force. */
export interface ConsentClaims {
  readonly batch: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** `valid_until` less the time of the consent, in milliseconds, or null if it never expires. */
  readonly validForMs: number | null;
  /** What the record states of its periods, or null in a record of before, whose validity alone is checked. */
  readonly periods: StatedPeriods | null;
  /** Whether the consent approves a document without an approval token. */
  readonly lacksToken: boolean;
  /**
   * Whether a former tool states the consent. The person was then asked elsewhere, perhaps before the text was
   * published here.
   */
  readonly isImported: boolean;
  /**
   * Time that a former tool states for an imported consent, in milliseconds since 1970; `createdAt` for other consents.
   */
  readonly decidedAt: number;
}

/** How long a record should be valid, and when it allows that the person is asked again. */
export interface StatedPeriods {
  readonly validity: Validity;
  readonly isRefusal: boolean;
  /** `ask_again_at` less the time of the consent, in milliseconds, or null. */
  readonly askAgainMs: number | null;
}

/** Result of checking one consent. */
export interface InForce {
  readonly outcome: Outcome;
  readonly message: Finding | null;
}

/** @property isExcusable whether a missing notice, or a notice of an unknown type, could explain the problem */
interface Objection {
  readonly message: Finding;
  readonly isExcusable: boolean;
}

const DAY_MS = 86_400_000;

/**
 * Checks a consent against the notices in force at its position in the ledger. Unlike times, positions cannot be chosen
 * afterwards. Within a batch the order of the two streams is unknown, so anything that was in force before the
 * consent's batch, or came into force in it, may have been in force.
 * @param version null if the publication is not proved, which `document.version` reports
 * @param configuration the same for the configuration, reported by `document.configuration`
 * @param longest of the site's configurations
 * @param isKnown whether all notices of the site up to the consent's batch are enclosed and of known types; if not,
 * what such a notice could explain is left undecided
 */
export function evaluateInForce(
  version: VersionTerm | null,
  configuration: ConfigurationTerm | null,
  consent: ConsentClaims,
  longest: LongestValidity,
  isKnown: boolean,
): InForce {
  if (version === null && configuration === null)
    return { outcome: 'not-applicable', message: finding('no-notice-included') };
  const objections = [
    ...(version === null ? [] : versionObjections(version, consent)),
    ...(configuration === null ? [] : configurationObjections(configuration, consent, longest)),
  ];
  const failure = objections.find(({ isExcusable }) => isKnown || !isExcusable);
  if (failure !== undefined) return { outcome: 'fail', message: failure.message };
  if (isKnown) return { outcome: 'pass', message: null };
  const why = finding('notices-not-known');
  const [open] = objections;
  return {
    outcome: 'indeterminate',
    message: open === undefined ? why : finding('objection-open', { objection: open.message, why }),
  };
}

/** Whether a text or a configuration was in force only after a time, by the claimed times. */
export function beginsAfter(
  version: VersionTerm | null,
  configuration: ConfigurationTerm | null,
  createdAt: number,
): boolean {
  const begins = [version?.published, version?.activated, configuration?.published];
  return begins.some((place) => place != null && place.createdAt > createdAt);
}

/**
 * Returns whether a former tool states a time before the text was published here, by more than the permitted difference
 * of clocks.
 */
export function isBeforeText(version: VersionTerm | null, { isImported, decidedAt }: ConsentClaims): boolean {
  return isImported && version !== null && version.published.createdAt > decidedAt + CLOCK_TOLERANCE_MS;
}

function versionObjections(term: VersionTerm, consent: ConsentClaims): Objection[] {
  const { published, activated, retired } = term;
  const begin = beginning(finding('the-version'), 'published', published, consent);
  if (consent.isImported) return [...begin, ...contradicting(term.contradiction, consent)];
  return [
    ...begin,
    ...(activated === null
      ? [excusable(finding('never-activated'))]
      : beginning(finding('the-version'), 'activated', activated, consent)),
    ...(retired === null ? [] : ending(finding('version-retired'), retired, consent)),
    ...contradicting(term.contradiction, consent),
    ...(term.requiresApprovalToken && consent.lacksToken ? [definite(finding('approval-token-missing'))] : []),
  ];
}

function configurationObjections(
  term: ConfigurationTerm,
  consent: ConsentClaims,
  longest: LongestValidity,
): Objection[] {
  const { published, superseded } = term;
  return [
    ...beginning(finding('the-configuration'), 'published', published, consent),
    ...(superseded === null ? [] : ending(finding('newer-configuration'), superseded, consent)),
    ...contradicting(term.contradiction, consent),
    ...(consent.periods === null
      ? validity(term.validityDays, consent)
      : periods(term, consent.validForMs, consent.periods, longest)),
  ];
}

function validity(days: number | null, { validForMs, isImported }: ConsentClaims): Objection[] {
  // A former tool may state an expiry although the site has none.
  if (days === null) return validForMs === null || isImported ? [] : [definite(finding('valid-until-unexpected'))];
  if (validForMs === null) return [definite(finding('valid-until-missing'))];
  return validForMs > days * DAY_MS ? [definite(finding('valid-until-too-late', { days }))] : [];
}

function periods(
  { validityDays: own, refusalDays }: ConfigurationTerm,
  validForMs: number | null,
  { validity: kind, isRefusal, askAgainMs }: StatedPeriods,
  longest: LongestValidity,
): Objection[] {
  const [least, most] = {
    none: [null, null] as const,
    own: [own, own] as const,
    longest: [longer(own, longest.least), longer(own, longest.most)] as const,
  }[kind];
  // An earlier configuration that is not enclosed can explain a longer period, but no shorter one.
  const tooLong = kind === 'longest' ? excusable : definite;
  const validityProblem = (): Objection[] => {
    if (validForMs === null) return most === null ? [] : [tooLong(finding('valid-until-absent', { days: most }))];
    if (least === null) return [definite(finding('valid-until-unexpected'))];
    if (validForMs < least * DAY_MS) return [definite(finding('valid-until-too-early', { days: least }))];
    return most !== null && validForMs > most * DAY_MS
      ? [tooLong(finding('valid-until-too-late', { days: most }))]
      : [];
  };
  const asked = isRefusal ? refusalDays : null;
  const isAskedRight = askAgainMs === (asked === null ? null : asked * DAY_MS);
  const askProblem = asked === null ? finding('ask-again-unexpected') : finding('ask-again-other', { days: asked });
  return [...validityProblem(), ...(isAskedRight ? [] : [definite(askProblem)])];
}

function beginning(
  notice: Finding,
  event: 'published' | 'activated',
  { batch, createdAt }: NoticePlace,
  consent: ConsentClaims,
): Objection[] {
  if (batch > consent.batch) return [definite(finding(`${event}-after-order`, { notice }))];
  if (consent.createdAt < createdAt - CLOCK_TOLERANCE_MS) return [definite(finding(`before-${event}`, { notice }))];
  return [];
}

function ending(event: Finding, { batch, createdAt }: NoticePlace, consent: ConsentClaims): Objection[] {
  if (batch < consent.batch) return [excusable(finding('ended-before-order', { event }))];
  if (consent.createdAt > createdAt + CLOCK_TOLERANCE_MS) return [excusable(finding('ended-before-time', { event }))];
  return [];
}

function contradicting(contradiction: Contradiction | null, consent: ConsentClaims): Objection[] {
  return contradiction === null || contradiction.batch > consent.batch ? [] : [excusable(contradiction.message)];
}

function definite(message: Finding): Objection {
  return { message, isExcusable: false };
}

function excusable(message: Finding): Objection {
  return { message, isExcusable: true };
}
