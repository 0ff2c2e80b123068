import * as z from 'zod';
import type { SubjectErasedRecord } from '../../schemas/events/subject-erased.js';
import type { Queryable } from '../platform/database/pool.js';
import { personsLock } from '../platform/database/shared-statements.js';

const personRows = z.array(z.object({ site_id: z.string(), visitor_index: z.instanceof(Uint8Array) }));
const eventRows = z.array(z.object({ event_id: z.string() }));

/**
 * Locks a site's row until the end of the transaction. Admission takes this lock first, so no other transaction admits
 * or erases records of the site meanwhile.
 *
 * Not FOR UPDATE: a transaction that changes a row and then seals it changes it twice, and PostgreSQL then checks the
 * row's foreign keys again, which would wait for such a lock. Two erasures of one site would deadlock.
 * @returns false if the site does not exist
 */
export async function lockSite(db: Queryable, siteId: string): Promise<boolean> {
  const { rowCount } = await db.query('select from sites where id = $1 for no key update', [siteId]);
  return rowCount === 1;
}

/**
 * Deletes the keys and attachments of records, the index entries of people who have no other record, the listed
 * approval tokens, and the tokens that the records consumed.
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
  const sites = [...new Set(persons.map((person) => person.site_id))].sort();
  for (const site of sites) await db.query(`select pg_advisory_xact_lock(${personsLock('$1::uuid')})`, [site]);
  // The sealer adds rows of people under the same lock. A separate statement sees the rows that it committed meanwhile.
  // There are no statistics on these indexes, so LIMIT and OFFSET make the planner look each of them up.
  await db.query(
    `delete from persons p using unnest($1::uuid[], $2::bytea[]) as g (site_id, visitor_index), lateral (
         select o.ctid as place from persons o where o.site_id = g.site_id and o.visitor_index = g.visitor_index limit 1) f
      where p.ctid = f.place and p.site_id = g.site_id and p.visitor_index = g.visitor_index
        and not exists (
          select from record_keys k where k.site_id = g.site_id and k.visitor_index = g.visitor_index offset 0)`,
    [persons.map((person) => person.site_id), persons.map((person) => person.visitor_index)],
  );
  await db.query('delete from attachments where event_id = any($1::uuid[])', [eventIds]);
  const { rowCount } = await db.query(
    'delete from approval_tokens where id = any($1) or consumed_by = any($2::uuid[])',
    [approvalTokens, eventIds],
  );
  return rowCount ?? 0;
}

/** Records whose keys one transaction destroyed. */
export interface ErasedRecords {
  readonly siteId: string;
  readonly reason: SubjectErasedRecord['reason'];
  /** The erasure that destroyed them, or null if the journal repeated it after a restore. */
  readonly requestId: string | null;
  readonly eventIds: readonly string[];
}

/**
 * Marks records as erased and to be announced. Records that were already marked stay unchanged.
 * @returns the number of records that were not marked before
 */
export async function markErased(db: Queryable, erased: ErasedRecords): Promise<number> {
  const { rowCount } = await db.query(
    `insert into erased_records (event_id, site_id, reason, request_id)
     select id, $2, $3, $4 from unnest($1::uuid[]) as e (id) on conflict (event_id) do nothing`,
    [erased.eventIds, erased.siteId, erased.reason, erased.requestId],
  );
  return rowCount ?? 0;
}

/**
 * Notes announcements that the log already has, so that waiting records are not announced again.
 * @returns the announcements whose event id was unknown
 */
export async function markAnnounced(
  db: Queryable,
  announcements: readonly SubjectErasedRecord[],
): Promise<readonly SubjectErasedRecord[]> {
  const { rows } = await db.query(
    'insert into erasure_events (event_id) select unnest($1::uuid[]) on conflict (event_id) do nothing returning event_id',
    [announcements.map((one) => one.event_id)],
  );
  const unknown = new Set(eventRows.parse(rows).map((row) => row.event_id));
  const fresh = announcements.filter((one) => unknown.has(one.event_id));
  // A record has one row here, even if the log announces it twice.
  const byRecord = new Map(fresh.toReversed().map((one) => [one.erased_event_id, one]));
  const own = [...byRecord.values()];
  await db.query(
    `insert into erased_records as e (event_id, site_id, reason, erasure_event_id)
     select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[])
     on conflict (event_id) do update set erasure_event_id = excluded.erasure_event_id where e.erasure_event_id is null`,
    [
      own.map((one) => one.erased_event_id),
      own.map((one) => one.site_id),
      own.map((one) => one.reason),
      own.map((one) => one.event_id),
    ],
  );
  return fresh;
}
