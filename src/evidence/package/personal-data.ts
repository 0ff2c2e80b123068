import { z } from 'zod';
import { textOfBytes } from '../../../schemas/crypto/encoding.js';
import type { ConsentRecord, ConsentRecordedBody } from '../../../schemas/events/consent-recorded.js';
import { decodeDisclosure, disclosureDigest } from '../../../schemas/evidence/disclosure.js';
import type { Queryable } from '../../platform/database/pool.js';
import { decryptForRecord, recordKey } from '../../platform/keys/index.js';
import { differ } from './errors.js';
import type { Disclose } from './filter.js';

/** What the key table says of some records. */
export interface RecordKeys {
  /** Seeds by event id. A record without one is withheld or erased. */
  readonly seeds: ReadonlyMap<string, Uint8Array>;
  /** Erased records, with the id of the `SubjectErased` that lists them. */
  readonly erasedBy: ReadonlyMap<string, string>;
}

const KeyRow = z.object({
  event_id: z.string(),
  seed: z.instanceof(Uint8Array).nullable(),
  erasure_event_id: z.string().nullable(),
});

/** As `KeyRow`: an export reads a million of them, and the schema itself is asked only where one is of another shape. */
function isKeyRow(row: unknown): row is z.infer<typeof KeyRow> {
  return (
    typeof row === 'object' &&
    row !== null &&
    'event_id' in row &&
    typeof row.event_id === 'string' &&
    'seed' in row &&
    (row.seed === null || row.seed instanceof Uint8Array) &&
    'erasure_event_id' in row &&
    (row.erasure_event_id === null || typeof row.erasure_event_id === 'string')
  );
}

/**
 * Reads the keys of a page of records. Those that are erased have none, whatever the key table says.
 * @param db one statement, so that an erasure is seen whole or not at all
 */
export async function readRecordKeys(db: Queryable, siteId: string, eventIds: readonly string[]): Promise<RecordKeys> {
  const { rows } = await db.query(
    `select w.event_id, k.seed, e.erasure_event_id
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
    else if (row.seed !== null) seeds.set(row.event_id, row.seed);
  }
  return { seeds, erasedBy };
}

/** Which of these records are of the person with this blind index. */
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

/** Fields whose content is an attachment. */
const ATTACHMENT_FIELDS: ReadonlySet<string> = new Set(['signature_image', 'custom_document_content']);

/** The chosen part of what a record discloses. */
export interface ChosenDisclosures {
  readonly disclosures: string[];
  /** Whether an attachment is among them. */
  readonly hasAttachments: boolean;
}

/**
 * Decrypts a record's disclosures and chooses among them.
 * @param key of the record
 * @throws KeyError `decrypt_failed`; ExportFailed `log-and-ledger-differ` if one is not what the record commits to
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
  // Names need reading only to choose by them, or to find attachments.
  const takesAll = disclose === 'all' && body.attachments.length === 0;
  for (const text of decryptDisclosures(key, record.event_id, body.disclosures)) {
    if (!record._sd.includes(disclosureDigest(text))) {
      differ(`a value kept with record ${record.event_id} is not one that it commits to`);
    }
    if (takesAll) {
      chosen.push(text);
      continue;
    }
    const name = nameOf(text, record.event_id);
    if (disclose !== 'all' && !disclose.includes(name)) continue;
    chosen.push(text);
    hasAttachments ||= ATTACHMENT_FIELDS.has(name);
  }
  return { disclosures: chosen, hasAttachments: hasAttachments && body.attachments.length > 0 };
}

function decryptDisclosures(key: Uint8Array, eventId: string, encrypted: string): readonly string[] {
  // What is not base64 of what was encrypted does not decrypt, and what is not ASCII has a digest that no record holds.
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

/** The sizes and digests that a record's chosen disclosures state of its attachments. */
export function attachmentDigests(disclosures: readonly string[]): readonly string[] {
  return disclosures.flatMap((text) => {
    const disclosure = decodeDisclosure(text);
    if (disclosure === null || !ATTACHMENT_FIELDS.has(disclosure.name)) return [];
    const reference = AttachmentDigest.safeParse(disclosure.value);
    return reference.success ? [reference.data.sha256] : [];
  });
}

const AttachmentDigest = z.object({ sha256: z.string() });

/** The record's key. */
export function keyOf(siteKey: Uint8Array, seed: Uint8Array, eventId: string): Uint8Array {
  return recordKey(siteKey, seed, eventId);
}
