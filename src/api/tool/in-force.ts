import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import type { ProvedRecord } from '../../evidence/records/person-records.js';

/** The part of a record that says until when it is in force, and of what kind it is. */
interface Ending extends Pick<ProvedRecord, 'documentSlug'> {
  readonly record: Pick<SealedConsent, 'consent_type' | 'valid_until'>;
}

/** Whether a consent has not ended. @param now Unix milliseconds */
export function isInForce({ valid_until: end }: Ending['record'], now: number): boolean {
  return end === null || Date.parse(end) > now;
}

/** What one consent replaces another in: its type, for one document. */
export function kindOf({ record, documentSlug }: Ending): string {
  return JSON.stringify([record.consent_type, documentSlug]);
}

/**
 * The choices of an account that are in force: none that a later one of its kind replaced, even if that one has ended. The
 * periods of the sites differ, and an earlier permission must not come back.
 * @param found newest first
 * @param now Unix milliseconds
 */
export function inForce<T extends Ending>(found: readonly T[], now: number): readonly T[] {
  const ended = new Set<string>();
  return found.filter((one) => {
    if (!isInForce(one.record, now)) ended.add(kindOf(one));
    return !ended.has(kindOf(one));
  });
}
