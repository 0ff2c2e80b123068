import type { ConsentSummary, PublicRecord } from '../../api/types.js';

/** The newest decision of a person on one subject at a time. */
export interface StateOfSubject {
  readonly id: string;
  readonly record: PublicRecord;
  readonly documentSlug: string | null;
  /** `in_force` includes refusals; `expired` means that the validity had ended. */
  readonly state: 'in_force' | 'withdrawn' | 'expired';
}

/**
 * Returns the state of a person at a time: for each kind of consent and document, the newest decision that was made
 * until then. An imported decision counts from the time that the former tool states, and is older than every decision
 * that was recorded here. Times are compared in whole seconds, because the page shows and offers whole seconds: at the
 * second shown next to a decision, the decision has been made.
 * @param items records of one person, in any order
 * @param time a time in milliseconds since 1970
 */
export function stateAt(items: readonly ConsentSummary[], time: number): readonly StateOfSubject[] {
  const newest = new Map<string, StateOfSubject>();
  for (const { id, record, document_slug: documentSlug } of items) {
    if (record === null || secondOf(timeOf(record)) > secondOf(time)) continue;
    const subject = JSON.stringify([record.consent_type, documentSlug]);
    const known = newest.get(subject);
    if (known !== undefined && isNewer(known.record, record)) continue;
    newest.set(subject, { id, record, documentSlug, state: stateOf(record, time) });
  }
  return [...newest.values()];
}

/** Returns how many records do not match their proof, in which case the state of the person may be different. */
export function alteredAmong(items: readonly ConsentSummary[]): number {
  return items.filter((item) => !item.is_intact).length;
}

/** Time of a consent in ISO 8601; for an imported consent, the time that the former tool states. */
export function givenAt({ created_at: createdAt, import: origin }: PublicRecord): string {
  return origin?.claimed_at ?? createdAt;
}

/**
 * Time of a record in a list, ISO 8601. The records of a site are in the order in which they were recorded, and are
 * filtered by it; the history of a person is in the order in which the consents were given.
 */
export function listedAt(record: PublicRecord, isHistory: boolean): string {
  return isHistory ? givenAt(record) : record.created_at;
}

/** Returns whether the first record counts as at least as new as the other. */
function isNewer(one: PublicRecord, other: PublicRecord): boolean {
  const isImported = one.import != null;
  return isImported === (other.import != null) ? timeOf(one) >= timeOf(other) : !isImported;
}

/** Drops the part of a second that the page does not show. */
const secondOf = (milliseconds: number): number => Math.floor(milliseconds / 1000);

/** The time in milliseconds since 1970. */
function timeOf(record: PublicRecord): number {
  return Date.parse(givenAt(record));
}

/**
 * The history of a person as it counts: imported consents by the time that the former tool states, then those
 * that were recorded here.
 * @param items newest record first
 */
export function oldestFirst(items: readonly ConsentSummary[]): readonly ConsentSummary[] {
  const isImported = ({ record }: ConsentSummary) => record?.import != null;
  const imported = items.filter(isImported).toReversed();
  const timeOfItem = ({ record }: ConsentSummary) => (record === null ? 0 : timeOf(record));
  return [
    ...imported.toSorted((one, other) => timeOfItem(one) - timeOfItem(other)),
    ...items.filter((item) => !isImported(item)).toReversed(),
  ];
}

function stateOf({ decision, valid_until: end }: PublicRecord, time: number): StateOfSubject['state'] {
  if (decision === 'withdrawn') return 'withdrawn';
  return end !== null && secondOf(Date.parse(end)) <= secondOf(time) ? 'expired' : 'in_force';
}
