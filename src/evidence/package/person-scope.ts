import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import { equalBytes, toHex } from '../../../schemas/crypto/encoding.js';
import { type PersonOpening, personTag } from '../../../schemas/evidence/person-tag.js';
import type { Queryable } from '../../platform/database/pool.js';
import { type KeyRows, keyRowColumns, keyRowsOf, personId } from '../../platform/keys/index.js';
import type { SealedEntry } from './entry-reader.js';
import { differ } from './errors.js';
import { hashFromHex } from './ledger-reader.js';

/** The records of a person as of a checkpoint, as the tags of the ledger show them. */
export interface PersonScope {
  /**
   * Person id from which the tags are derived, 32 bytes, or null if the ledger has no records of the person, or only
   * erased ones.
   */
  readonly id: Uint8Array | null;
  /** Number of the person's records below the checkpoint, or null if the filter restricts them further. */
  readonly records: number | null;
  /** Revisions of these records, including erased ones. */
  readonly revisions: readonly number[];
}

/** Number of records that one statement looks up. */
const PAGE = 1_000;

const Bytes = z.instanceof(Uint8Array);
const personRows = z.array(z.object({ seed: Bytes })).max(1);
const leafRows = z.array(z.object({ revision: z.int() }));

/**
 * Finds all records of a person below `size`. They are numbered without gaps, so the first page that is not full ends
 * the search.
 * @param siteKey 32 bytes
 * @param visitorIndex blind index of the visitor id
 */
export async function findPerson(
  db: Queryable,
  siteId: string,
  siteKey: Uint8Array,
  visitorIndex: Uint8Array,
  size: number,
): Promise<PersonScope> {
  const { rows } = await db.query('select seed from persons where site_id = $1 and visitor_index = $2', [
    siteId,
    visitorIndex,
  ]);
  const [row] = personRows.parse(rows);
  if (row === undefined) return { id: null, records: 0, revisions: [] };
  const id = personId(siteKey, row.seed, visitorIndex);
  const revisions: number[] = [];
  for (;;) {
    const tags = Array.from({ length: PAGE }, (_, i) => personTag(id, revisions.length + i + 1));
    const found = await db.query(
      'select revision from sealed_events where person_tag = any($1::bytea[]) and batch < $2',
      [tags, size],
    );
    const page = leafRows.parse(found.rows);
    for (const { revision } of page) revisions.push(revision);
    if (page.length < PAGE) return { id, records: revisions.length, revisions };
  }
}

/** Number of attempts before other work of the process gets a turn. */
const NUMBERS_AT_ONCE = 10_000;

/**
 * Opens the person tag of a record: finds the id of its person and the number of the record.
 * @param siteKey 32 bytes
 * @returns null if the record has no person, was erased meanwhile, or its key row was altered
 * @throws ExportFailed `log-and-ledger-differ` if the tag is not one of the person
 */
export async function openPersonTag(
  db: Queryable,
  keyRows: KeyRows,
  siteKey: Uint8Array,
  { event: { id: eventId, revision }, personTag: tag }: SealedEntry,
): Promise<PersonOpening | null> {
  if (tag === null) return null;
  const found = await db.query(`select ${keyRowColumns('k')} from record_keys k where k.event_id = $1`, [eventId]);
  const [open] = await keyRows.openKeyRows(keyRowsOf(found.rows));
  if (open === undefined || open.visitorIndex === null) return null;
  const { rows } = await db.query('select seed from persons where site_id = $1 and visitor_index = $2', [
    open.siteId,
    open.visitorIndex,
  ]);
  const [row] = personRows.parse(rows);
  if (row === undefined) return null;
  const id = personId(siteKey, row.seed, open.visitorIndex);
  const wanted = hashFromHex(tag);
  // Every record of the person is an event of the stream.
  for (let n = 1; n <= revision + 1; n += 1) {
    if (equalBytes(personTag(id, n), wanted)) return { id: toHex(id), n };
    if (n % NUMBERS_AT_ONCE === 0) await setImmediate();
  }
  return differ(`the person tag of the record ${eventId} is not one of its person`);
}
