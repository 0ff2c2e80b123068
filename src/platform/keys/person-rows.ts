import type { Queryable } from '../database/pool.js';
import type { BlindIndexKind } from './blind-index.js';
import { type KeyRow, keyRowsOf } from './key-row.js';

/** A person, as the rows of `record_keys` name one. */
export interface IndexedPerson {
  readonly siteId: string;
  readonly kind: BlindIndexKind;
  /** Blind index of the value. */
  readonly index: Uint8Array;
}

/**
 * SQL of a page of a person's rows in `record_keys`, in the order of their event ids. It reads as many
 * rows as it returns, however many the person has, and whatever the planner takes the person for.
 * @param bind adds a value to the statement and returns its parameter
 * @param after event id after which the page starts; null: from the first
 */
export function personRowsSql(
  { siteId, kind, index }: IndexedPerson,
  order: 'newest first' | 'oldest first',
  after: string | null,
  limit: number,
  bind: (value: unknown) => string,
): string {
  const values = [siteId, kind, index, order === 'newest first', after, limit];
  return `keys_of_person(${values.map(bind).join(', ')})`;
}

/**
 * Reads the rows of `record_keys` of a person from the oldest to the newest, a page in each statement. None is
 * opened yet.
 */
export async function* personRows(
  db: Queryable,
  person: IndexedPerson,
  pageSize: number,
): AsyncGenerator<readonly KeyRow[], void> {
  for (let after: string | null = null; ; ) {
    const page = await nextPersonRows(db, person, after, pageSize);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < pageSize) return;
    after = last.event_id;
  }
}

/**
 * Reads the next rows of `record_keys` of a person, from the oldest to the newest.
 * @param after event id after which the page starts; null: from the first
 */
export async function nextPersonRows(
  db: Queryable,
  person: IndexedPerson,
  after: string | null,
  limit: number,
): Promise<readonly KeyRow[]> {
  const values: unknown[] = [];
  const from = personRowsSql(person, 'oldest first', after, limit, (value) => `$${values.push(value)}`);
  const { rows } = await db.query(`select * from ${from}`, values);
  return keyRowsOf(rows);
}
