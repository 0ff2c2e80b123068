import { fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { type PersonOpening, personTag } from '../../../schemas/evidence/person-tag.js';
import { LIMITS } from '../container/limits.js';

/** A sealed consent, with what opens it. */
export interface PersonRecord {
  readonly stream: string;
  readonly revision: number;
  /** Person tag, in hex. */
  readonly tag: string;
  /** The person that the record names, in Unicode normalization form C, or null if it shows none. */
  readonly visitor: string | null;
  /** Opening of the tag, or null if it is not known. */
  readonly opening: PersonOpening | null;
}

/**
 * Finds the numbers of records under an id. A record of a person is an event of the stream, so its number is at most
 * its revision plus 1.
 * @param id hex
 * @returns numbers by tag; if `isDecided`, a record that is missing here has no tag of the id
 */
export function numbersUnder(id: string, records: readonly PersonRecord[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  const open = new Set<string>();
  for (const { tag, opening } of records) {
    if (opening !== null && opens(opening, tag)) {
      if (opening.id === id) numbers.set(tag, opening.n);
    } else open.add(tag);
  }
  const bytes = fromHex(id) ?? new Uint8Array();
  const most = records.reduce((largest, { revision }) => Math.max(largest, revision + 1), 0);
  for (let n = 1; n <= Math.min(most, LIMITS.personRecords) && open.size > 0; n += 1) {
    const tag = toHex(personTag(bytes, n));
    if (open.delete(tag)) numbers.set(tag, n);
  }
  return numbers;
}

/** Returns whether `numbersUnder` tries every number that the record can have, or its tag is opened. */
export function isDecided({ revision, tag, opening }: PersonRecord): boolean {
  return revision < LIMITS.personRecords || (opening !== null && opens(opening, tag));
}

function opens({ id, n }: PersonOpening, tag: string): boolean {
  return toHex(personTag(fromHex(id) ?? new Uint8Array(), n)) === tag;
}

/**
 * Describes how records of one stream contradict each other, or null if they do not. An id is random and is destroyed
 * with the last of the person's keys, so it cannot come back.
 * @param records two with tags of one id, whose numbers do not increase; or three of one visitor in the
 *   order of the ledger, of which only the first and the last have tags of one id
 */
export function personsProblem(records: readonly PersonRecord[]): string | null {
  const [first, second, third] = records;
  const id = first?.opening?.id;
  if (first === undefined || second === undefined || id === undefined) return null;
  const isInOrder = records.every(({ stream, revision }, i) => {
    const before = records[i - 1];
    return stream === first.stream && (before === undefined || before.revision < revision);
  });
  if (!isInOrder) return null;
  const numbers = numbersUnder(id, records);
  const [n, m, k] = records.map(({ tag }) => numbers.get(tag));
  if (n === undefined) return null;
  if (third === undefined)
    return m !== undefined && m <= n
      ? `sealed record ${n} of a person as revision ${first.revision} of ${first.stream}, and then record ${m} as revision ${second.revision}`
      : null;
  const isOneVisitor = first.visitor !== null && records.every(({ visitor }) => visitor === first.visitor);
  if (!isOneVisitor || k === undefined || m !== undefined || !isDecided(second)) return null;
  return `gave one visitor two ids: revisions ${first.revision} and ${third.revision} of ${first.stream} have tags of one id, and revision ${second.revision} between them does not`;
}
