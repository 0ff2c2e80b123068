import * as z from 'zod';
import { PERSONAL_FIELDS } from '../../../schemas/api/export.js';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { decodeUtf8, toBase64, toHex } from '../../../schemas/crypto/encoding.js';
import { lateMembersOf, originOf, type SealedConsent, servicesOf } from '../../../schemas/events/consent-imported.js';
import { ConsentRecordedBody, consentToken } from '../../../schemas/events/consent-recorded.js';
import { isConsentType, parseBody, parseConsent } from '../../../schemas/events/sealed-event.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import { ATTACHMENT_NAMES } from '../../../schemas/evidence/disclosed-values.js';
import { AttachmentReference, decodeDisclosure } from '../../../schemas/evidence/disclosure.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import type { EventLog, StreamEvent } from '../../pipeline/event-log/port.js';
import type { Queryable } from '../../platform/database/pool.js';
import {
  assertGenuine,
  decryptForRecord,
  type KeyRows,
  type ProofKeys,
  type RecordKeyring,
} from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { differ } from '../package/errors.js';
import { chooseDisclosures, readRecordKeys } from '../package/personal-data.js';
import { cursorBehind, type SelectedRecord } from './selection.js';

export interface RecordOptions {
  /** A handle in the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly keyring: ProofKeys & KeyRows & RecordKeyring;
}

/** A record with its revision in the stream of its site. */
export interface ExportedRecord {
  readonly revision: number;
  readonly content: JsonObject;
}

/**
 * Reads the records of a page in their recorded form (`ExportedConsent`). The content comes from the event log; the
 * read model only gives the positions. Every disclosed value is compared with the digest in the record. A record whose
 * key row was altered is left out.
 * @throws ExportFailed `log-and-ledger-differ`; NotGenuine; EventLogUnavailable, database errors
 */
export async function exportRecords(
  options: RecordOptions,
  site: Pick<SiteContext, 'siteId'>,
  page: readonly SelectedRecord[],
): Promise<readonly ExportedRecord[]> {
  const events = await readEvents(options.eventLog, consentsStream(site.siteId), page);
  const { keys, altered } = await readRecordKeys(
    options.db,
    options.keyring,
    site.siteId,
    page.map(({ eventId }) => eventId),
  );
  const records: ExportedRecord[] = [];
  for (const selected of page) {
    if (altered.has(selected.eventId)) continue;
    const event = events.get(selected.revision);
    if (event === undefined || event.id !== selected.eventId || !isConsentType(event.type)) {
      differ(`revision ${selected.revision} of the site's stream is not the record that the read model shows`);
    }
    await assertGenuine(event, options.keyring);
    const body = parseBody(ConsentRecordedBody, event.type, event.data);
    const record = parseConsent(event.type, body.record);
    const key = keys.get(event.id);
    const personal = key === undefined ? null : await personalPart(options, site.siteId, { key, record, body });
    records.push({ revision: selected.revision, content: exported(selected, record, body.proof_hash, personal) });
  }
  return records;
}

/** Largest gap between two wanted revisions that one read covers. */
const MAX_GAP = 20;

async function readEvents(
  eventLog: EventLog,
  stream: string,
  page: readonly SelectedRecord[],
): Promise<ReadonlyMap<number, StreamEvent>> {
  const runs: { first: number; last: number }[] = [];
  for (const { revision } of page) {
    const run = runs.at(-1);
    if (run !== undefined && revision - run.last <= MAX_GAP) run.last = revision;
    else runs.push({ first: revision, last: revision });
  }
  const events = new Map<number, StreamEvent>();
  for (const { first, last } of runs) {
    for (let next = first; next <= last; ) {
      const read = await eventLog.readStream(stream, next, last - next + 1);
      const end = read.at(-1);
      if (end === undefined) differ(`${stream} has no revision ${next}, but the read model shows it`);
      for (const event of read) events.set(event.revision, event);
      next = end.revision + 1;
    }
  }
  return events;
}

interface Opened {
  readonly key: Uint8Array;
  readonly record: SealedConsent;
  readonly body: ConsentRecordedBody;
}

export interface PersonalPart {
  readonly values: JsonObject;
  readonly attachments: readonly JsonObject[];
}

/** Decrypts the personal values of a record. @returns null if the record was erased meanwhile */
async function personalPart(options: RecordOptions, siteId: string, opened: Opened): Promise<PersonalPart | null> {
  const { key, record, body } = opened;
  const chosen = chooseDisclosures(key, record, body, 'all');
  const values = new Map<string, JsonValue>();
  for (const text of chosen.disclosures) {
    const disclosure = decodeDisclosure(text);
    if (disclosure !== null) values.set(disclosure.name, disclosure.value);
  }
  if (!chosen.hasAttachments) return { values: Object.fromEntries(values), attachments: [] };
  const contents = await readAttachments(options, siteId, opened);
  if (contents === null) return null;
  const attachments: JsonObject[] = [];
  for (const field of ATTACHMENT_NAMES) {
    const value = values.get(field);
    if (value === undefined) continue;
    const reference = AttachmentReference.safeParse(value);
    const content = reference.success ? contents.get(reference.data.sha256) : undefined;
    if (!reference.success || content === undefined) {
      differ(`an attachment that record ${record.event_id} names is not kept with it`);
    }
    const text = reference.data.media_type.startsWith('text/') ? decodeUtf8(content) : null;
    values.set(field, text ?? toBase64(content));
    attachments.push({ field, ...reference.data, encoding: text === null ? 'base64' : 'utf-8' });
  }
  return { values: Object.fromEntries(values), attachments };
}

const AttachmentRows = z.array(z.object({ id: z.string(), ciphertext: z.instanceof(Uint8Array) }));

/**
 * Reads a record's attachments, by the SHA-256 of their contents.
 * @returns null if the record was erased meanwhile
 */
async function readAttachments(
  { db, keyring }: RecordOptions,
  siteId: string,
  { key, record: { event_id: eventId }, body }: Opened,
): Promise<ReadonlyMap<string, Uint8Array> | null> {
  const { rows } = await db.query(
    'select id, ciphertext from attachments where event_id = $1 and site_id = $2 and id = any($3::uuid[])',
    [eventId, siteId, body.attachments],
  );
  const found = AttachmentRows.parse(rows);
  if (found.length < body.attachments.length) {
    const { keys } = await readRecordKeys(db, keyring, siteId, [eventId]);
    if (!keys.has(eventId)) return null;
    differ(`the attachments of record ${eventId} are not kept`);
  }
  return new Map(
    found.map(({ id, ciphertext }) => {
      const content = decryptForRecord(key, eventId, `attachment:${id}`, ciphertext);
      return [toHex(sha256(content)), content];
    }),
  );
}

const NOTHING_PERSONAL: JsonObject = Object.fromEntries(PERSONAL_FIELDS.map((name) => [name, null]));

/** A record as an export shows it. @param personal null if its personal values are erased */
export function exported(
  { revision, documentSlug }: Pick<SelectedRecord, 'revision' | 'documentSlug'>,
  record: SealedConsent,
  proofHash: string,
  personal: PersonalPart | null,
): JsonObject {
  const { v, event_id: id, disclosures, ...publicPart } = record;
  return {
    id,
    consent_token: consentToken(id),
    proof_hash: proofHash,
    ...publicPart,
    services: servicesOf(record),
    ...lateMembersOf(record),
    import: originOf(record),
    document_slug: documentSlug,
    is_anonymized: personal === null,
    ...NOTHING_PERSONAL,
    ...personal?.values,
    attachments: [...(personal?.attachments ?? [])],
    cursor: cursorBehind(revision),
  };
}
