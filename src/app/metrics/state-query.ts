import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';

/**
 * State of the pipeline in the database at one moment. Ages are in seconds, and null if nothing is
 * waiting.
 */
export interface PipelineState {
  /** Number of waiting events, counted up to the requested limit. */
  readonly outboxWaiting: number;
  /** Age of the first waiting event of any site that is not quarantined. */
  readonly outboxOldestAge: number | null;
  readonly quarantinedSites: number;
  readonly unsealedEvents: number;
  /**
   * Seconds until the earliest deadline of a promise whose consent is not in a Merkle batch yet; negative if it has
   * passed.
   */
  readonly promiseSecondsLeft: number | null;
  /**
   * Consents that are in no Merkle batch although the deadline of their promise has passed; counted up to
   * `MAX_UNSEALED`.
   */
  readonly overduePromises: number;
  readonly ledgerSize: number;
  /** Unix seconds. */
  readonly lastBatchAt: number | null;
  /** Seconds since the sealing of the oldest batch without a time stamp. */
  readonly unstampedAge: number | null;
  /** Unix seconds: the authority's time in the newest time stamp. */
  readonly lastStampAt: number | null;
  /** Largest fraction of a monthly quota that any tenant has used, or null if no tenant has a quota. */
  readonly highestQuotaUse: number | null;
  readonly openErasures: number;
  readonly oldestErasureAge: number | null;
}

/** State of one projection. */
export interface ProjectionPlace {
  readonly name: string;
  readonly state: string;
  /** Position in the log up to which it has read, or null if it has read nothing. */
  readonly position: string | null;
}

/**
 * Limits the load of one read, however large the tables are. Half a million waiting rows without a vacuum take two
 * seconds.
 */
const STATEMENT_TIMEOUT_MS = 10_000;
const MAX_SITES = 1_000;
const MAX_ERASURES = 10_000;
/** Limit for counting consents that are in no Merkle batch. */
const MAX_UNSEALED = 50_000;

const number = z.number().nullable();
const StateRows = z.tuple([
  z
    .object({
      waiting: z.int(),
      oldest_age: number,
      quarantined: z.int(),
      unsealed: z.int(),
      promise_left: number,
      overdue: z.int(),
      size: z.int(),
      last_batch: number,
      unstamped_age: number,
      last_stamp: number,
      quota_use: number,
      erasures: z.int(),
      erasure_age: number,
    })
    .transform(
      (row): PipelineState => ({
        outboxWaiting: row.waiting,
        outboxOldestAge: row.oldest_age,
        quarantinedSites: row.quarantined,
        unsealedEvents: row.unsealed,
        promiseSecondsLeft: row.promise_left,
        overduePromises: row.overdue,
        ledgerSize: row.size,
        lastBatchAt: row.last_batch,
        unstampedAge: row.unstamped_age,
        lastStampAt: row.last_stamp,
        highestQuotaUse: row.quota_use,
        openErasures: row.erasures,
        oldestErasureAge: row.erasure_age,
      }),
    ),
]);
const ProjectionRows = z.array(z.object({ name: z.string(), state: z.string(), position: z.string().nullable() }));

const age = (time: string): string => `extract(epoch from clock_timestamp() - ${time})::float8`;
const left = (time: string): string => `extract(epoch from ${time} - clock_timestamp())::float8`;
const unixSeconds = (time: string): string => `extract(epoch from ${time})::float8`;

/** The promises of consents that are in no Merkle batch yet. */
const PROMISES_SQL = `
  unsealed_streams as (
    select t.number, coalesce(l.revision, -1) as sealed, t.next_revision - 1 - coalesce(l.revision, -1) as events
      from event_log.streams t left join sealed_streams l on l.stream = t.name
     where t.site_id is not null and t.next_revision - 1 > coalesce(l.revision, -1)
  ),
  promises as (
    select e.sealed_before from unsealed_streams u
     cross join lateral (select sealed_before from event_log.events o
                          where o.stream = u.number and o.revision > u.sealed order by o.revision limit ${MAX_UNSEALED}) e
     where e.sealed_before is not null limit ${MAX_UNSEALED}
  )`;

// The oldest waiting row is the oldest among the first rows of the sites.
const STATE_SQL = `
  with first_waiting as (
    select site_id, created_at from event_log.waiting_sites('00000000-0000-0000-0000-000000000000', ${MAX_SITES})
  ),
  ${PROMISES_SQL},
  waiting as (select coalesce(sum(count), 0)::bigint as events from event_log.waiting),
  newest_stamp as (select size, gen_time from checkpoints order by size desc limit 1),
  newest_batch as (select number, sealed_at from batches order by number desc limit 1),
  open_erasures as (select requested_at from erasure_requests where finished_at is null limit ${MAX_ERASURES})
  select
    (select least(events, $1) from waiting) as waiting,
    (select ${age('min(created_at)')} from first_waiting f
      where not exists (select from quarantined_sites p where p.site_id = f.site_id)) as oldest_age,
    (select count(*) from quarantined_sites) as quarantined,
    (select greatest(0, coalesce(sum(u.events), 0) - (select events from waiting))::bigint from unsealed_streams u) as unsealed,
    (select ${left('min(sealed_before)')} from promises) as promise_left,
    (select count(*) from promises where sealed_before < clock_timestamp()) as overdue,
    (select coalesce(max(number) + 1, 0) from newest_batch) as size,
    (select ${unixSeconds('sealed_at')} from newest_batch) as last_batch,
    (select ${age('sealed_at')} from batches
      where number >= (select coalesce(max(size), 0) from newest_stamp) order by number limit 1) as unstamped_age,
    (select ${unixSeconds('gen_time')} from newest_stamp) as last_stamp,
    (select max(u.used::float8 / s.consent_quota) from consent_usage u join subscriptions s using (tenant_id)
      where u.month = date_trunc('month', now() at time zone 'UTC')::date and s.consent_quota > 0) as quota_use,
    (select count(*) from open_erasures) as erasures,
    (select ${age('min(requested_at)')} from open_erasures) as erasure_age`;

/**
 * Reads both states in one short transaction, in the role `consent_ledger_api` or
 * `consent_ledger_worker`.
 * @param maxWaiting limit up to which waiting events are counted
 * @throws database errors, including one after ten seconds
 */
export async function readPipelineState(
  db: Queryable,
  maxWaiting: number,
): Promise<{ readonly state: PipelineState; readonly projections: readonly ProjectionPlace[] }> {
  return withTransaction(db, async (db) => {
    await db.query(`set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
    const state = await db.query({ name: 'pipeline_state', text: STATE_SQL, values: [maxWaiting] });
    const projections = await db.query(`
      select p.name, p.state, g.position from projections p
        left join projection_generations g on g.name = p.name and g.generation = p.live_generation`);
    return { state: StateRows.parse(state.rows)[0], projections: ProjectionRows.parse(projections.rows) };
  });
}

const OverdueRows = z.tuple([z.object({ overdue: z.boolean() })]);

/**
 * Returns whether any consent is still in no Merkle batch although the deadline of its promise has passed.
 * @throws database errors, including one after ten seconds
 */
export async function hasOverduePromise(db: Queryable): Promise<boolean> {
  return withTransaction(db, async (db) => {
    await db.query(`set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
    const { rows } = await db.query(
      `with ${PROMISES_SQL} select exists (select from promises where sealed_before < clock_timestamp()) as overdue`,
    );
    return OverdueRows.parse(rows)[0].overdue;
  });
}
