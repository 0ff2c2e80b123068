import type { WrittenConsentRecord } from '../events/consent-recorded.js';
import { answersQuestion } from './acts.js';

/** A period in days; null never ends. */
export type Days = number | null;

/** Days for which a refusal is kept at least, unless the site says otherwise: six months (CNIL, 2020). */
const REFUSAL_DAYS = 180;

/**
 * The days for which a person who refused is not asked again.
 * @returns null: never asked again
 */
export function refusalDays({
  refusal_days: stated,
  validity_days: validity,
}: {
  readonly refusal_days?: Days | undefined;
  readonly validity_days: Days;
}): Days {
  if (stated !== undefined) return stated;
  return validity === null ? null : Math.max(REFUSAL_DAYS, validity);
}

/** What a person did, as far as periods depend on it. */
export type Act = Pick<WrittenConsentRecord, 'consent_type' | 'decision'>;

/** The longer of two periods. */
export function longer(a: Days, b: Days): Days {
  return a === null || b === null ? null : Math.max(a, b);
}

/**
 * How long a decision is valid. `none`: it has no end; `own`: for the period of the configuration in force; `longest`:
 * for the longest period that the site ever published. No decision ends before an earlier one of its kind: what takes
 * something back is valid for as long as anything that it can take back.
 */
export type Validity = (typeof VALIDITIES)[number];
export const VALIDITIES = ['none', 'own', 'longest'] as const;

export function validityOf({ consent_type: type, decision }: Act): Validity {
  if (!answersQuestion(type)) return 'none';
  return decision === 'accepted' ? 'own' : 'longest';
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
