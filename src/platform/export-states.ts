import { v7 as uuidV7 } from 'uuid';
import * as z from 'zod';
import type { EXPORT_REASONS, EXPORT_STATES } from '../../schemas/api/panel/exports.js';
import { type Queryable, withTransaction } from './database/pool.js';

/**
 * The states of an export, and the only code that changes them. `exports` has one row for each export of the panel and
 * the API, and for each package or receipt that is made immediately. Through this row an erasure of the site reaches
 * the export, whichever process makes it.
 *
 *     queued ─▶ running ─▶ finished ─▶ expired
 *        ◀──────── │           │
 *                  ├───────────┴▶ cancelled, failed
 *
 * A state that ends an export destroys the seed of its key, except `finished`: its package is kept.
 */
export type ExportState = (typeof EXPORT_STATES)[number];
export type ExportReason = (typeof EXPORT_REASONS)[number];

/** The states from which an export can enter each state. */
const FROM: Readonly<Record<ExportState, readonly ExportState[]>> = {
  // The run was released, and another one may succeed.
  queued: ['running'],
  // From `running`: another worker takes the export over.
  running: ['queued', 'running'],
  finished: ['running'],
  // From `finished`: the file of a finished package could not be moved to its destination.
  failed: ['running', 'finished'],
  cancelled: ['queued', 'running', 'finished'],
  expired: ['finished'],
};

/**
 * SQL of the state that clients see, of a row `e` of `exports` and its job `j`. It is the state of the row, except that
 * a package expires on time even if no worker is running to mark it.
 */
export const SHOWN_STATE = `case when e.state = 'finished' and j.expires_at <= now() then 'expired' else e.state end`;

/** Registers an export that a worker will make. @param seed seed of the key of its package */
export async function queueExport(
  db: Queryable,
  row: { readonly id: string; readonly siteId: string; readonly requestedBy: string; readonly seed: Uint8Array },
): Promise<void> {
  await db.query(`insert into exports (id, site_id, state, requested_by, seed) values ($1, $2, 'queued', $3, $4)`, [
    row.id,
    row.siteId,
    row.requestedBy,
    row.seed,
  ]);
}

/** Registers an export that this process makes immediately. @returns its id */
export async function startExport(db: Queryable, siteId: string, requestedBy: string): Promise<string> {
  const id = uuidV7();
  // This runs in a transaction, because its end seals the row.
  await withTransaction(db, (db) =>
    db.query(`insert into exports (id, site_id, state, requested_by) values ($1, $2, 'running', $3)`, [
      id,
      siteId,
      requestedBy,
    ]),
  );
  return id;
}

/** Conditions and consequences of a change of state. */
export interface StateChange {
  /** Only the run with this claim may change the state, or null if no run is required. */
  readonly claim: string | null;
  /** Why the export was cancelled or failed, or null for the other states. */
  readonly reason: ExportReason | null;
}

/**
 * Changes the state of one export, and destroys the seed of its key where that state keeps no package. The caller's
 * transaction may change the job as well. All code locks the row of `exports` first, because another order could
 * deadlock.
 * @param db within a transaction
 * @returns false, and nothing is changed, if the export cannot enter this state or another run has
 *   claimed it
 */
export async function enterState(
  db: Queryable,
  id: string,
  state: ExportState,
  { claim, reason }: StateChange,
): Promise<boolean> {
  // The update is a statement of its own, so that it sees a claim that was committed before the lock.
  await db.query('select from exports where id = $1 for no key update', [id]);
  const { rowCount } = await db.query(
    `update exports e set state = $2, reason = $3,
            ended_at = case when $2 in ('queued', 'running') then null else coalesce(e.ended_at, now()) end,
            seed = case when $2 in ('queued', 'running', 'finished') then e.seed end
      where e.id = $1 and e.state = any($4::text[])
        and ($5::uuid is null or exists (select from export_jobs j where j.export_id = e.id and j.claim = $5))`,
    [id, state, reason, FROM[state], claim],
  );
  return rowCount === 1;
}

/** Returns whether an export that this process makes immediately is still running, that is, was not stopped. */
export async function isRunning(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query(`select from exports where id = $1 and state = 'running'`, [id]);
  return rowCount === 1;
}

/** Ends the exports whose retention period is over. It locks them in the order of `cancelForErasure`. */
export async function expireExports(db: Queryable): Promise<void> {
  await db.query(
    `with ended as (
       select e.id from exports e join export_jobs j on j.export_id = e.id
        where e.state = any($1::text[]) and e.seed is not null and j.expires_at <= now()
        order by e.id for no key update of e)
     update exports e set state = 'expired', seed = null from ended where e.id = ended.id`,
    [FROM.expired],
  );
}

/** Numbers of a site's exports that an erasure cancelled. */
export interface CancelledExports {
  /** Running exports that were stopped. */
  readonly stopped: number;
  /** Finished packages whose keys were destroyed. */
  readonly destroyed: number;
}

const StateRows = z.array(z.object({ state: z.string() }));

/**
 * Cancels the site's exports that are queued or running, or whose package the service keeps, and destroys their keys.
 * Packages that have left the service are out of its reach. All code locks these rows in the order of their ids, so
 * that two transactions cannot deadlock.
 * @param db within the transaction that erases
 */
export async function cancelForErasure(db: Queryable, siteId: string): Promise<CancelledExports> {
  const { rows } = await db.query(
    `with before as (
       select id, state from exports
        where site_id = $1 and state = any($2::text[]) and (state = 'running' or seed is not null)
        order by id for no key update)
     update exports e set state = 'cancelled', reason = 'erasure', ended_at = coalesce(e.ended_at, now()), seed = null
       from before where e.id = before.id
     returning before.state`,
    [siteId, FROM.cancelled],
  );
  const states = StateRows.parse(rows).map(({ state }) => state);
  return {
    stopped: states.filter((state) => state === 'running').length,
    destroyed: states.filter((state) => state === 'finished').length,
  };
}
