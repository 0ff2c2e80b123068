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
 * until then. An imported one counts from the time that the former tool states, and is older than every one that was
 * recorded here.
 * @param items records of one person, in any order
 * @param time in milliseconds since 1970
 */
export function stateAt(items: readonly ConsentSummary[], time: number): readonly StateOfSubject[] {
  const newest = new Map<string, StateOfSubject>();
  for (const { id, record, document_slug: documentSlug } of items) {
    if (record === null || givenAt(record) > time) continue;
    const subject = JSON.stringify([record.consent_type, documentSlug]);
    const known = newest.get(subject);
    if (known !== undefined && isNewer(known.record, record)) continue;
    newest.set(subject, { id, record, documentSlug, state: stateOf(record, time) });
  }
  return [...newest.values()];
}

/** Time of a consent, in milliseconds since 1970: of an imported one, as the former tool states it. */
function givenAt({ created_at: createdAt, import: origin }: PublicRecord): number {
  return Date.parse(origin?.claimed_at ?? createdAt);
}

/** Whether the first one counts as newer, or as new. */
function isNewer(one: PublicRecord, other: PublicRecord): boolean {
  const isImported = one.import != null;
  return isImported === (other.import != null) ? givenAt(one) >= givenAt(other) : !isImported;
}

function stateOf({ decision, valid_until: end }: PublicRecord, time: number): StateOfSubject['state'] {
  if (decision === 'withdrawn') return 'withdrawn';
  return end !== null && Date.parse(end) <= time ? 'expired' : 'in_force';
}
