import { z } from 'zod';
import { textOfBytes } from '../../../schemas/crypto/encoding.js';
import type { ConsentRecord, ConsentRecordedBody } from '../../../schemas/events/consent-recorded.js';
import { isAttachmentName } from '../../../schemas/evidence/disclosed-values.js';
import { decodeDisclosure, disclosureDigest } from '../../../schemas/evidence/disclosure.js';
import type { Queryable } from '../../platform/database/pool.js';
import { decryptForRecord, type KeyRows, keyRowColumns, keyRowsOf } from '../../platform/keys/index.js';
import { differ } from './errors.js';
import type { Disclose } from './filter.js';

/** The keys and erasures of some records. */
export interface RecordKeys {
  /** Keys of records, 32 bytes, by event id. A record without a key is withheld, erased or altered. */
  readonly keys: ReadonlyMap<string, Uint8Array>;
  /** Records whose key row was altered. The service does not open them. */
  readonly altered: ReadonlySet<string>;
  /** Announced erased records, each with the id of its `SubjectErased`. */
  readonly erasedBy: ReadonlyMap<string, string>;
}

const StateRow = z.object({
  wanted: z.string(),
  has_key: z.boolean(),
  is_erased: z.boolean(),
  erasure_event_id: z.string().nullable(),
});

/**
 * Fast equivalent of `StateRow`, because an export reads a million rows. The schema parses only the
 * rows that fail this check.
 */
function isStateRow(row: unknown): row is z.infer<typeof StateRow> {
  return (
    typeof row === 'object' &&
    row !== null &&
    'wanted' in row &&
    typeof row.wanted === 'string' &&
    'has_key' in row &&
    typeof row.has_key === 'boolean' &&
    'is_erased' in row &&
    typeof row.is_erased === 'boolean' &&
    'erasure_event_id' in row &&
    (row.erasure_event_id === null || typeof row.erasure_event_id === 'string')
  );
}

/**
 * Reads the keys of a page of records. An erased record has no key here, even if the key table has
 * one.
 * @param db one statement reads both tables, so that an erasure is visible entirely or not at all
 */
export async function readRecordKeys(
  db: Queryable,
  keyRows: KeyRows,
  siteId: string,
  eventIds: readonly string[],
): Promise<RecordKeys> {
  const { rows } = await db.query(
    `select w.event_id as wanted, k.seed is not null as has_key, e.event_id is not null as is_erased, e.erasure_event_id,
            ${keyRowColumns('k')}
       from unnest($2::uuid[]) as w (event_id)
       left join record_keys k on k.event_id = w.event_id and k.site_id = $1
       left join erased_records e on e.event_id = w.event_id
      where k.seed is not null or e.erasure_event_id is not null`,
    [siteId, eventIds],
  );
  const erasedBy = new Map<string, string>();
  const altered = new Set<string>();
  const withKey: unknown[] = [];
  for (const found of rows) {
    const row = isStateRow(found) ? found : StateRow.parse(found);
    if (row.erasure_event_id !== null) erasedBy.set(row.wanted, row.erasure_event_id);
    else if (row.has_key && !row.is_erased) {
      withKey.push(found);
      altered.add(row.wanted);
    }
  }
  const keys = new Map<string, Uint8Array>();
  for (const { eventId, key } of await keyRows.openKeyRows(keyRowsOf(withKey))) {
    keys.set(eventId, key);
    altered.delete(eventId);
  }
  return { keys, altered, erasedBy };
}

/**
 * Selects the records that belong to the person with this blind index. A record whose key row was
 * altered belongs to none.
 * @param column of `record_keys` with the index
 */
export async function recordsOfPerson(
  db: Queryable,
  keyRows: KeyRows,
  siteId: string,
  [column, index]: readonly [column: string, index: Uint8Array],
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query(
    `select ${keyRowColumns('k')} from record_keys k
      where k.event_id = any($1::uuid[]) and k.site_id = $2 and k.${column} = $3`,
    [eventIds, siteId, index],
  );
  return new Set((await keyRows.openKeyRows(keyRowsOf(rows))).map(({ eventId }) => eventId));
}

/** The selected disclosures of a record. */
export interface ChosenDisclosures {
  readonly disclosures: string[];
  /** Whether an attachment is among them. */
  readonly hasAttachments: boolean;
}

/**
 * Decrypts a record's disclosures and selects the requested ones.
 * @param key key of the record, 32 bytes
 * @throws KeyError `decrypt_failed`; ExportFailed `log-and-ledger-differ` if a disclosure has a
 *   digest that the record does not contain
 */
export function chooseDisclosures(
  key: Uint8Array,
  record: ConsentRecord,
  body: ConsentRecordedBody,
  disclose: Disclose,
): ChosenDisclosures {
  if (disclose === 'none' || body.disclosures === null) return { disclosures: [], hasAttachments: false };
  const chosen: string[] = [];
  let hasAttachments = false;
  // Names are parsed only to select by them or to find attachments: an export of all fields skips
  // this cost.
  const digests = Object.values(record.disclosures);
  const takesAll = disclose === 'all' && body.attachments.length === 0;
  for (const text of decryptDisclosures(key, record.event_id, body.disclosures)) {
    if (!digests.includes(disclosureDigest(text))) {
      differ(`a value kept with record ${record.event_id} is not one that it commits to`);
    }
    if (takesAll) {
      chosen.push(text);
      continue;
    }
    const name = nameOf(text, record.event_id);
    if (disclose !== 'all' && !disclose.includes(name)) continue;
    chosen.push(text);
    hasAttachments ||= isAttachmentName(name);
  }
  return { disclosures: chosen, hasAttachments: hasAttachments && body.attachments.length > 0 };
}

function decryptDisclosures(key: Uint8Array, eventId: string, encrypted: string): readonly string[] {
  // No strict decoding is needed: altered base64 does not decrypt, and non-ASCII text has a digest
  // that no record contains.
  const text = textOfBytes(decryptForRecord(key, eventId, 'disclosures', Buffer.from(encrypted, 'base64')));
  let json: unknown = null;
  try {
    json = JSON.parse(text);
  } catch {
    differ(`the decrypted part of record ${eventId} is not JSON`);
  }
  return areTexts(json) ? json : differ(`the decrypted part of record ${eventId} is malformed`);
}

function areTexts(json: unknown): json is string[] {
  return Array.isArray(json) && json.every((item) => typeof item === 'string');
}

function nameOf(disclosure: string, eventId: string): string {
  return decodeDisclosure(disclosure)?.name ?? differ(`a value kept with record ${eventId} is malformed`);
}

/** The SHA-256 digests, in hex, of the attachments that a record's disclosures name. */
export function attachmentDigests(disclosures: readonly string[]): readonly string[] {
  return disclosures.flatMap((text) => {
    const disclosure = decodeDisclosure(text);
    if (disclosure === null || !isAttachmentName(disclosure.name)) return [];
    const reference = AttachmentDigest.safeParse(disclosure.value);
    return reference.success ? [reference.data.sha256] : [];
  });
}

const AttachmentDigest = z.object({ sha256: z.string() });
