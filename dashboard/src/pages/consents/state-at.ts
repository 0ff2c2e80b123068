import type { ConsentSummary, PublicRecord } from '../../api/types.js';

/** The newest decision of a person on one subject at a time. */
export interface StateOfSubject {
  readonly id: string;
  readonly record: PublicRecord;
  readonly documentSlug: string | null;
  /** `in_force`, also for a refusal; `withdrawn`; `expired`: its validity had ended. */
  readonly state: 'in_force' | 'withdrawn' | 'expired';
}

/**
 * Returns the state of a person at a time: for each kind of consent and document, the newest decision that was made
 * until then.
 * @param items records of one person, in any order
 * @param time in milliseconds since 1970
 */
export function stateAt(items: readonly ConsentSummary[], time: number): readonly StateOfSubject[] {
  const newest = new Map<string, StateOfSubject>();
  for (const { id, record, document_slug: documentSlug } of items) {
    if (record === null || Date.parse(record.created_at) > time) continue;
    const subject = JSON.stringify([record.consent_type, documentSlug]);
    const known = newest.get(subject);
    if (known !== undefined && Date.parse(known.record.created_at) >= Date.parse(record.created_at)) continue;
    newest.set(subject, { id, record, documentSlug, state: stateOf(record, time) });
  }
  return [...newest.values()];
}

function stateOf({ decision, valid_until: end }: PublicRecord, time: number): StateOfSubject['state'] {
  if (decision === 'withdrawn') return 'withdrawn';
  return end !== null && Date.parse(end) <= time ? 'expired' : 'in_force';
}
