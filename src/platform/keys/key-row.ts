import { timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { BLIND_INDEX_BYTES, type BlindIndexKind } from './blind-index.js';
import { hmacSha256 } from './hmac.js';
import { recordKey, SEED_BYTES } from './record-encryption.js';

/** Bytes of the seal of a key row. */
export const KEY_ROW_SEAL_BYTES = 16;

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
  /** Blind index of the visitor id; null: none was given. */
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

/** Beginning of the text that the seal of a row is over. */
export const KEY_ROW_LABEL = Buffer.from('key-row\0', 'ascii');
/** In that text, before an index: whether there is one. */
export const NO_INDEX = 0;
export const WITH_INDEX = 1;

/**
 * Seals the row of a record in `record_keys`: HMAC-SHA256(record key, 'key-row' 0 indexes), truncated.
 * The record key depends on the site's key, the seed and the event id, so that the seal binds the whole
 * row. A person who can only write to the database cannot give a record to another person.
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
  return rows.map((row) => (isKeyRow(row) ? row : KeyRow.parse(row)));
}

/** Fast equivalent of `KeyRow`, because an export reads a million rows. */
function isKeyRow(row: unknown): row is KeyRow {
  return (
    typeof row === 'object' &&
    row !== null &&
    'event_id' in row &&
    typeof row.event_id === 'string' &&
    'site_id' in row &&
    typeof row.site_id === 'string' &&
    'seed' in row &&
    row.seed instanceof Uint8Array &&
    'seal' in row &&
    row.seal instanceof Uint8Array &&
    'visitor_index' in row &&
    isIndex(row.visitor_index) &&
    'email_index' in row &&
    isIndex(row.email_index) &&
    'phone_index' in row &&
    isIndex(row.phone_index) &&
    'id_number_index' in row &&
    isIndex(row.id_number_index)
  );
}

function isIndex(value: unknown): value is Uint8Array | null {
  return value === null || value instanceof Uint8Array;
}
