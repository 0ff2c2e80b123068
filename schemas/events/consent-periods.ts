import { answersQuestion, type WrittenConsentRecord } from './consent-recorded.js';

/** A period in days; null never ends. */
export type Days = number | null;

/** What a configuration says about periods. `refusal_days` is absent in configurations of before. */
export interface PeriodConfiguration {
  readonly validity_days: Days;
  readonly refusal_days?: Days;
}

/** What a person did, as far as periods depend on it. */
export type Act = Pick<WrittenConsentRecord, 'consent_type' | 'decision'>;

/** Days for which a refusal is not asked about again, if the configuration does not say (CNIL: six months). */
const REFUSAL_DAYS = 180;

/** Days after which a person who refused may be asked again. */
export function refusalDays({ validity_days: validity, refusal_days: stated }: PeriodConfiguration): Days {
  if (stated !== undefined) return stated;
  return validity === null ? null : Math.max(REFUSAL_DAYS, validity);
}

/** The longer of two periods. */
export function longer(a: Days, b: Days): Days {
  return a === null || b === null ? null : Math.max(a, b);
}

/**
 * Days for which a decision is valid. No decision ends before an earlier one of its kind: what takes something back is
 * valid for as long as anything that it can take back.
 * @param validity the period of the configuration in force
 * @param longest the longest period that the site ever published
 */
export function validityOf({ consent_type: type, decision }: Act, validity: Days, longest: Days): Days {
  if (!answersQuestion(type)) return null;
  return decision === 'accepted' ? validity : longest;
}

/** Whether a decision refuses, so that the person is asked again after a time. */
export function isRefusal({ consent_type: type, decision }: Act): boolean {
  return answersQuestion(type) && (decision === 'rejected' || decision === 'withdrawn');
}

const DAY_MS = 86_400_000;

/** The end of a period, or null if it never ends. @param start Unix milliseconds */
export function endOf(start: number, days: Days): string | null {
  return days === null ? null : new Date(start + days * DAY_MS).toISOString();
}
