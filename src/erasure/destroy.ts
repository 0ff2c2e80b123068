import { z } from 'zod';
import { utf8 } from '../../schemas/crypto/encoding.js';
import { consentsStream } from '../../schemas/events/streams.js';
import { SUBJECT_ERASED, type SubjectErasedRecord } from '../../schemas/events/subject-erased.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import type { Queryable } from '../platform/database/pool.js';

const personRows = z.array(z.object({ site_id: z.string(), visitor_index: z.instanceof(Uint8Array) }));
const stateRows = z.array(z.object({ state: z.string() }));

/**
 * Locks a site's row until the end of the transaction. Admission takes this lock first, so that no
 * other transaction admits or erases records of the site meanwhile.
 * @returns false if the site does not exist
 */
export async function lockSite(db: Queryable, siteId: string): Promise<boolean> {
  const { rowCount } = await db.query('select from sites where id = $1 for update', [siteId]);
  return rowCount === 1;
}

/**
 * Deletes the keys and attachments of records, the ids of persons without a further record, the
 * listed approval tokens and those that the records consumed.
 * @returns the number of deleted tokens
 */
export async function destroyPersonalData(
  db: Queryable,
  eventIds: readonly string[],
  approvalTokens: readonly string[],
): Promise<number> {
  const { rows } = await db.query(
    `with gone as (delete from record_keys where event_id = any($1::uuid[]) returning site_id, visitor_index)
     select distinct site_id, visitor_index from gone where visitor_index is not null`,
    [eventIds],
  );
  const persons = personRows.parse(rows);
  // A statement of its own sees the rows that the sealer committed meanwhile.
  await db.query(
    `delete from persons p using unnest($1::uuid[], $2::bytea[]) as g (site_id, visitor_index)
      where p.site_id = g.site_id and p.visitor_index = g.visitor_index
        and not exists (select from record_keys k where k.site_id = p.site_id and k.visitor_index = p.visitor_index)`,
    [persons.map((person) => person.site_id), persons.map((person) => person.visitor_index)],
  );
  await db.query('delete from attachments where event_id = any($1::uuid[])', [eventIds]);
  const { rowCount } = await db.query(
    'delete from approval_tokens where id = any($1) or consumed_by = any($2::uuid[])',
    [approvalTokens, eventIds],
  );
  return rowCount ?? 0;
}

/** Numbers of a site's exports that an erasure ended. */
export interface CancelledExports {
  /** Running exports that were stopped. */
  readonly stopped: number;
  /** Finished packages whose keys were destroyed. */
  readonly destroyed: number;
}

/**
 * Stops the site's running exports, and destroys the keys of its queued exports and stored
 * packages.
 */
export async function cancelExports(db: Queryable, siteId: string): Promise<CancelledExports> {
  const { rowCount } = await db.query(
    `update exports set state = 'cancelled', ended_at = now(), seed = null where site_id = $1 and state = 'running'`,
    [siteId],
  );
  const kept = await db.query(
    'update exports set seed = null where site_id = $1 and seed is not null returning state',
    [siteId],
  );
  const destroyed = stateRows.parse(kept.rows).filter(({ state }) => state === 'finished').length;
  return { stopped: rowCount ?? 0, destroyed };
}

/**
 * Records which `SubjectErased` lists the records. A record that another one lists already is
 * unchanged.
 */
export async function markErased(db: Queryable, record: SubjectErasedRecord): Promise<void> {
  await db.query(
    `insert into erased_records (event_id, erasure_event_id) select unnest($1::uuid[]), $2 on conflict (event_id) do nothing`,
    [record.erased_event_ids, record.event_id],
  );
}

/** Records the id of a `SubjectErased`. @returns false if it was already known */
export async function markErasureEvent(db: Queryable, eventId: string, requestId: string | null): Promise<boolean> {
  const { rowCount } = await db.query(
    'insert into erasure_events (event_id, request_id) values ($1, $2) on conflict (event_id) do nothing',
    [eventId, requestId],
  );
  return rowCount === 1;
}

/** Queues a `SubjectErased` for the log. */
export async function sendSubjectErased(db: Queryable, record: SubjectErasedRecord): Promise<void> {
  const body = utf8(canonicalJson({ record: canonicalJson(record) }));
  await db.query('insert into outbox (site_id, stream, event_id, type, body) values ($1, $2, $3, $4, $5)', [
    record.site_id,
    consentsStream(record.site_id),
    record.event_id,
    SUBJECT_ERASED,
    body,
  ]);
}
