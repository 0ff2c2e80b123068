import { timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import type { Queryable } from '../database/pool.js';
import { BLIND_INDEX_BYTES, type BlindIndexKind } from './blind-index.js';
import { hmacSha256, RepeatedHmac } from './hmac.js';
import { RECORD_LABEL, recordKey, SEED_BYTES } from './record-encryption.js';

/** Number of bytes of the seal of a key row. */
const KEY_ROW_SEAL_BYTES = 16;

const Bytes = z.instanceof(Uint8Array);
const Index = Bytes.nullable();

/** A row of `record_keys`. */
export const KeyRow = z.object({
  event_id: z.string(),
  site_id: z.string(),
  seed: Bytes,
  visitor_index: Index,
  email_index: Index,
  phone_index: Index,
  id_number_index: Index,
  seal: Bytes,
});
export type KeyRow = z.infer<typeof KeyRow>;

/** A row of `record_keys` that admission wrote in this form. */
export interface OpenKeyRow {
  readonly eventId: string;
  readonly siteId: string;
  /** Blind index of the visitor id, or null if none was given. */
  readonly visitorIndex: Uint8Array | null;
  /** Result of `recordKey`, 32 bytes. */
  readonly key: Uint8Array;
}

/** The columns of `KeyRow`. @param alias name of `record_keys` in the statement */
export function keyRowColumns(alias: string): string {
  return Object.keys(KeyRow.shape)
    .map((column) => `${alias}.${column}`)
    .join(', ');
}

/** Beginning of the text that the seal of a row covers. */
const KEY_ROW_LABEL = Buffer.from('key-row\0', 'ascii');
/** Values that stand before each index in that text, and say whether there is one. */
const NO_INDEX = 0;
const WITH_INDEX = 1;

/**
 * Seals the row of a record in `record_keys`: HMAC-SHA256(record key, 'key-row' 0 indexes), truncated. The record key
 * depends on the site's key, the seed and the event id, so the seal binds the whole row. Someone who can only write to
 * the database cannot assign a record to another person.
 * @param key result of `recordKey`
 * @returns `KEY_ROW_SEAL_BYTES`
 */
export function sealOfKeyRow(key: Uint8Array, indexes: Readonly<Record<BlindIndexKind, Uint8Array | null>>): Buffer {
  const text = Buffer.alloc(KEY_ROW_LABEL.length + 4 * (1 + BLIND_INDEX_BYTES));
  text.set(KEY_ROW_LABEL);
  let at = KEY_ROW_LABEL.length;
  for (const index of [indexes.visitor, indexes.email, indexes.phone, indexes.id_number]) {
    text[at] = index === null ? NO_INDEX : WITH_INDEX;
    if (index !== null) text.set(index.subarray(0, BLIND_INDEX_BYTES), at + 1);
    at += 1 + BLIND_INDEX_BYTES;
  }
  return hmacSha256(key, text).subarray(0, KEY_ROW_SEAL_BYTES);
}

/**
 * Derives the record's key from its row, if the row is as admission wrote it.
 * @param siteKey 32 bytes, of the row's site
 * @returns null if any column was altered, or the row belongs to another record or site
 */
export function openKeyRow(siteKey: Uint8Array, row: KeyRow): OpenKeyRow | null {
  const indexes = {
    visitor: row.visitor_index,
    email: row.email_index,
    phone: row.phone_index,
    id_number: row.id_number_index,
  };
  const isIndex = (index: Uint8Array | null): boolean => index === null || index.length === BLIND_INDEX_BYTES;
  if (row.seed.length !== SEED_BYTES || row.seal.length !== KEY_ROW_SEAL_BYTES) return null;
  if (!Object.values(indexes).every(isIndex)) return null;
  const key = recordKey(siteKey, row.seed, row.event_id);
  if (!timingSafeEqual(sealOfKeyRow(key, indexes), row.seal)) return null;
  return { eventId: row.event_id, siteId: row.site_id, visitorIndex: row.visitor_index, key };
}

/** Parses rows with the columns of `keyRowColumns`. */
export function keyRowsOf(rows: readonly unknown[]): readonly KeyRow[] {
  return rows.map((row) => KeyRow.parse(row));
}

/** Rows of `record_keys` of one site, by columns, bytes in lower-case hex. */
export interface KeyColumns {
  readonly eventIds: readonly string[];
  readonly seeds: readonly string[];
  readonly seals: readonly string[];
  readonly indexes: Readonly<Record<BlindIndexKind, readonly (string | null)[]>>;
}

const KEY_BYTES = 32;
const UUID_BYTES = 16;
/** The order in which the seal binds the indexes: see `sealOfKeyRow`. */
const KINDS: readonly BlindIndexKind[] = ['visitor', 'email', 'phone', 'id_number'];
const NO_INDEX_BYTES = new Uint8Array(BLIND_INDEX_BYTES);

/**
 * Derives the records' keys from their rows, as `openKeyRow` does (a test compares them). An export
 * opens a million rows, and objects for each of their values cost several times what the hashes do.
 * @param siteKey 32 bytes, of the rows' site
 * @returns for each row its key, 32 bytes, or null if it is not as admission wrote it
 */
export function openKeyColumns(siteKey: Uint8Array, columns: KeyColumns): readonly (Uint8Array | null)[] {
  const { eventIds, seeds, seals, indexes } = columns;
  const derivation = new RepeatedHmac(RECORD_LABEL.length + SEED_BYTES + UUID_BYTES);
  derivation.setKey(siteKey);
  derivation.message.set(RECORD_LABEL);
  const sealing = new RepeatedHmac(KEY_ROW_LABEL.length + KINDS.length * (1 + BLIND_INDEX_BYTES));
  sealing.message.set(KEY_ROW_LABEL);
  const expected = Buffer.alloc(KEY_BYTES);
  const given = Buffer.alloc(KEY_ROW_SEAL_BYTES);
  const keys = Buffer.alloc(eventIds.length * KEY_BYTES);
  return eventIds.map((eventId, row) => {
    const isWhole =
      writeHex(derivation.message, RECORD_LABEL.length, seeds[row], SEED_BYTES) &&
      writeHex(derivation.message, RECORD_LABEL.length + SEED_BYTES, eventId.replaceAll('-', ''), UUID_BYTES) &&
      writeHex(given, 0, seals[row], KEY_ROW_SEAL_BYTES) &&
      KINDS.every((kind, place) => writeIndex(sealing.message, place, indexes[kind][row]));
    if (!isWhole) return null;
    derivation.writeTo(keys, row * KEY_BYTES);
    const key = keys.subarray(row * KEY_BYTES, (row + 1) * KEY_BYTES);
    sealing.setKey(key);
    sealing.writeTo(expected, 0);
    return timingSafeEqual(expected.subarray(0, KEY_ROW_SEAL_BYTES), given) ? key : null;
  });
}

/** @returns whether `hex` is the hex of exactly this number of bytes */
function writeHex(out: Buffer, at: number, hex: string | undefined, bytes: number): boolean {
  return hex?.length === 2 * bytes && out.write(hex, at, bytes, 'hex') === bytes;
}

function writeIndex(message: Buffer, place: number, hex: string | null | undefined): boolean {
  const at = KEY_ROW_LABEL.length + place * (1 + BLIND_INDEX_BYTES);
  message[at] = hex === null ? NO_INDEX : WITH_INDEX;
  if (hex !== null) return writeHex(message, at + 1, hex, BLIND_INDEX_BYTES);
  message.set(NO_INDEX_BYTES, at + 1);
  return true;
}

/** A person, as the rows of `record_keys` name one. */
export interface IndexedPerson {
  readonly siteId: string;
  readonly kind: BlindIndexKind;
  /** Blind index of the value. */
  readonly index: Uint8Array;
}

/**
 * SQL of a page of a person's rows in `record_keys`, in the order of their event ids. It reads only as many rows as it
 * returns, regardless of the person's number of rows and of the planner's estimates.
 * @param bind adds a value to the statement and returns its parameter
 * @param after event id after which the page starts, or null to start at the first
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

/** Reads the rows of `record_keys` of a person, oldest first, one page per statement. The rows are not opened yet. */
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
 * @param after event id after which the page starts, or null to start at the first
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
