import { z } from 'zod';
import { textOfBytes } from '../../../schemas/crypto/encoding.js';
import type { ConsentRecord, ConsentRecordedBody } from '../../../schemas/events/consent-recorded.js';
import { isAttachmentName } from '../../../schemas/evidence/disclosed-values.js';
import { decodeDisclosure, disclosureDigest } from '../../../schemas/evidence/disclosure.js';
import type { Queryable } from '../../platform/database/pool.js';
import { decryptForRecord, recordKey } from '../../platform/keys/index.js';
import { differ } from './errors.js';
import type { Disclose } from './filter.js';

/** The keys and erasures of some records. */
export interface RecordKeys {
  /** Seeds by event id. A record without a seed is withheld or erased. */
  readonly seeds: ReadonlyMap<string, Uint8Array>;
  /** Announced erased records, each with the id of its `SubjectErased`. */
  readonly erasedBy: ReadonlyMap<string, string>;
}

const KeyRow = z.object({
  event_id: z.string(),
  seed: z.instanceof(Uint8Array).nullable(),
  is_erased: z.boolean(),
  erasure_event_id: z.string().nullable(),
});

/**
 * Fast equivalent of `KeyRow`, because an export reads a million rows. The schema parses only the
 * rows that fail this check.
 */
function isKeyRow(row: unknown): row is z.infer<typeof KeyRow> {
  return (
    typeof row === 'object' &&
    row !== null &&
    'event_id' in row &&
    typeof row.event_id === 'string' &&
    'seed' in row &&
    (row.seed === null || row.seed instanceof Uint8Array) &&
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
export async function readRecordKeys(db: Queryable, siteId: string, eventIds: readonly string[]): Promise<RecordKeys> {
  const { rows } = await db.query(
    `select w.event_id, k.seed, e.event_id is not null as is_erased, e.erasure_event_id
       from unnest($2::uuid[]) as w (event_id)
       left join record_keys k on k.event_id = w.event_id and k.site_id = $1
       left join erased_records e on e.event_id = w.event_id
      where k.seed is not null or e.erasure_event_id is not null`,
    [siteId, eventIds],
  );
  const seeds = new Map<string, Uint8Array>();
  const erasedBy = new Map<string, string>();
  for (const found of rows) {
    const row = isKeyRow(found) ? found : KeyRow.parse(found);
    if (row.erasure_event_id !== null) erasedBy.set(row.event_id, row.erasure_event_id);
    else if (row.seed !== null && !row.is_erased) seeds.set(row.event_id, row.seed);
  }
  return { seeds, erasedBy };
}

/** Selects the records that belong to the person with this blind index. */
export async function recordsOfPerson(
  db: Queryable,
  siteId: string,
  visitorIndex: Uint8Array,
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query(
    'select event_id from record_keys where event_id = any($1::uuid[]) and site_id = $2 and visitor_index = $3',
    [eventIds, siteId, visitorIndex],
  );
  return new Set(
    z
      .array(z.object({ event_id: z.string() }))
      .parse(rows)
      .map((row) => row.event_id),
  );
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

/** Derives the key of a record. @returns 32 bytes */
export function keyOf(siteKey: Uint8Array, seed: Uint8Array, eventId: string): Uint8Array {
  return recordKey(siteKey, seed, eventId);
}
