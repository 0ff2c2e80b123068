import * as z from 'zod';
import { originOf, type SealedConsent } from '../../../schemas/events/consent-imported.js';
import type { EventLog, StreamEvent } from '../../pipeline/event-log/port.js';
import type { Queryable } from '../../platform/database/pool.js';
import {
  findProofKey,
  type IndexedPerson,
  isProofHashOf,
  type Keyring,
  keyRowColumns,
  keyRowsOf,
  personRowsSql,
} from '../../platform/keys/index.js';
import { lacksRecord, loggedRecord, placeOf, readSealedEvents } from '../verification/logged-record.js';
import { CLAIMED_AT } from '../verification/stored-record.js';

export interface PersonRecordsOptions {
  /** A handle in the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly eventLog: Pick<EventLog, 'readEvents'>;
  readonly keyring: Pick<Keyring, 'proofKeyById' | 'openKeyRows' | 'reportAltered'>;
}

/** A record whose text in the event log was verified against its proof hash. */
export interface ProvedRecord {
  readonly record: SealedConsent;
  readonly proofHash: string;
  /** Revision in the stream of the site. */
  readonly revision: number;
  /** Null if the service does not know the document. */
  readonly documentSlug: string | null;
  /** Null in the same case. */
  readonly documentId: string | null;
}

export interface PersonRecordsPage {
  /** The records, without altered ones and those that the read model does not show yet. */
  readonly records: readonly ProvedRecord[];
  /** Event id of the last row that was read, after which the next page starts, or null if there are no more. */
  readonly next: string | null;
}

const CopyRow = z.object({
  event_id: z.string(),
  /** This column and the following ones are null if the read model has no row. */
  revision: z.int().nullable(),
  proof_hash: z.string().nullable(),
  document_version_id: z.string().nullable(),
  claimed_at: z.date().nullable(),
  document_id: z.string().nullable(),
  slug: z.string().nullable(),
});
type CopyRow = z.infer<typeof CopyRow>;

/**
 * Reads the next records of a person, newest first by the times in their ids, and verifies each. Only the sealed key
 * rows and the event log decide which records these are. The read model only gives their positions in the log; where it
 * has none, or a wrong one, the ledger does. An erased record has no key row. A record whose key row or event was
 * altered is left out and reported.
 * @param after event id after which the page starts, or null to start at the newest
 * @param limit rows that are read; the bodies of this many records are in memory at once
 * @throws LogDiverged if a record is at none of the stated positions, because the page would then be incomplete;
 *   EventLogUnavailable, database errors
 */
export async function nextPersonRecords(
  options: PersonRecordsOptions,
  person: IndexedPerson,
  after: string | null,
  limit: number,
): Promise<PersonRecordsPage> {
  const { db, keyring } = options;
  const values: unknown[] = [];
  const from = personRowsSql(person, 'newest first', after, limit, (value) => `$${values.push(value)}`);
  // OFFSET makes the planner look each row up by its primary key, regardless of its estimates for the tables. The index
  // of a site would lead through all records of the site for each row.
  const { rows } = await db.query({
    name: 'records of a person',
    text: `
      select ${keyRowColumns('k')}, c.revision, c.proof_hash, c.document_version_id, c.claimed_at, d.id as document_id, d.slug
        from ${from} k
        left join lateral (
          select c.site_id, c.revision, encode(c.proof_hash, 'hex') as proof_hash, c.document_version_id, ${CLAIMED_AT} as claimed_at
            from read_model.consents c where c.event_id = k.event_id offset 0) c on c.site_id = k.site_id
        left join lateral (
          select v.site_id, v.document_id from document_versions v where v.id = c.document_version_id offset 0) v on v.site_id = c.site_id
        left join documents d on d.id = v.document_id
       order by k.event_id desc`,
    values,
  });
  const copies = z.array(CopyRow).parse(rows);
  const opened = new Set((await keyring.openKeyRows(keyRowsOf(rows))).map(({ eventId }) => eventId));
  const own = copies.filter(({ event_id: eventId }) => opened.has(eventId));
  const events = await eventsOf(options, person.siteId, own);
  const records: ProvedRecord[] = [];
  for (const copy of own) {
    const event = events.get(copy.event_id);
    const proved = event === undefined ? null : await provedRecord(options, person.siteId, copy, event);
    if (proved !== null) records.push(proved);
  }
  return { records, next: copies.length < limit ? null : (copies.at(-1)?.event_id ?? null) };
}

/** @returns the events by id, without those of records that neither read model nor ledger shows yet */
async function eventsOf(
  { db, eventLog }: PersonRecordsOptions,
  siteId: string,
  copies: readonly CopyRow[],
): Promise<ReadonlyMap<string, StreamEvent>> {
  const stated = copies.flatMap(({ event_id, revision }) =>
    revision === null ? [] : [{ event_id, site_id: siteId, revision }],
  );
  const read = stated.length === 0 ? [] : await eventLog.readEvents(stated.map(placeOf));
  const found = new Map<string, StreamEvent>();
  for (const [index, { event_id: eventId }] of stated.entries()) {
    const event = read[index] ?? null;
    if (event?.id === eventId) found.set(eventId, event);
  }
  const missing = copies.map(({ event_id: eventId }) => eventId).filter((eventId) => !found.has(eventId));
  for (const [eventId, event] of await readSealedEvents(db, eventLog, missing)) found.set(eventId, event);
  for (const place of stated) if (!found.has(place.event_id)) throw lacksRecord(place);
  return found;
}

/** @returns null if the event is not the record, or was altered */
async function provedRecord(
  { db, keyring }: PersonRecordsOptions,
  siteId: string,
  copy: CopyRow,
  event: StreamEvent,
): Promise<ProvedRecord | null> {
  const { event_id: id } = copy;
  const logged = loggedRecord(event);
  const record = logged?.record ?? null;
  const key = record === null ? null : await findProofKey(keyring, record.proof_key_id);
  const isProved = logged !== null && key !== null && isProofHashOf(logged.text, logged.proofHash, key.key);
  if (!isProved || record?.event_id !== id || record.site_id !== siteId) {
    keyring.reportAltered({ table: 'read_model.consents', id });
    return null;
  }
  const { revision } = event;
  const isSameVersion = copy.document_version_id === record.document_version_id;
  if (copy.revision !== null && !(isSameVersion && copyAgrees(copy, logged.proofHash, revision, record)))
    keyring.reportAltered({ table: 'read_model.consents', id });
  const document = isSameVersion ? copy : await documentOf(db, siteId, record.document_version_id);
  const { slug: documentSlug = null, document_id: documentId = null } = document ?? {};
  return { record, proofHash: logged.proofHash, revision, documentSlug, documentId };
}

function copyAgrees(copy: CopyRow, proofHash: string, revision: number, record: SealedConsent): boolean {
  return (
    copy.revision === revision &&
    copy.proof_hash === proofHash &&
    (copy.claimed_at?.toISOString() ?? null) === (originOf(record)?.claimed_at ?? null)
  );
}

const DocumentRows = z.array(z.object({ document_id: z.string(), slug: z.string() })).max(1);

async function documentOf(db: Queryable, siteId: string, versionId: string) {
  const { rows } = await db.query(
    `select v.document_id, d.slug from document_versions v join documents d on d.id = v.document_id
      where v.id = $1 and v.site_id = $2`,
    [versionId, siteId],
  );
  return DocumentRows.parse(rows)[0];
}
