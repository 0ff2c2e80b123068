import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { DiscloseRequest } from '../../../schemas/api/panel/exports.js';
import { ExportStatement } from '../../../schemas/evidence/manifest.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { type ExportReason, enterState, expireExports } from '../../platform/export-states.js';
import { type RowSeals, SealedBytes, sealed, sealedRow } from '../../platform/keys/index.js';
import type { Disclose, ExportProgress, ExportResult } from '../package/index.js';
import { KeptFilter } from './exports.js';

/** Another worker may take an export over after this time without a heartbeat. */
const SILENCE = "interval '15 seconds'";
/** Number of runs after which an export fails permanently. */
export const MAX_ATTEMPTS = 3;
const RETRY = "interval '30 seconds'";

/** Condition of exports `e` with jobs `j` that may be claimed. */
const MAY_CLAIM = `j.deleted_at is null
          and (e.state = 'queued' and (j.retry_at is null or j.retry_at <= now())
               or e.state = 'running' and j.heartbeat_at < now() - ${SILENCE})`;

/** SQL condition for `Looks`: true if `claimExport` may find an export. */
export const EXPORT_WAITS = `exists (select from exports e join export_jobs j on j.export_id = e.id where ${MAY_CLAIM})`;

/** An export that this process has claimed. */
export interface ClaimedExport {
  readonly id: string;
  readonly siteId: string;
  /** Identifies this run: every claim of an export has a new value. */
  readonly claim: string;
  readonly attempts: number;
  readonly seed: Uint8Array;
  readonly filter: KeptFilter;
  /** The encrypted visitor, or null if the filter names none. */
  readonly sealedVisitor: Uint8Array | null;
  readonly disclose: Disclose;
  readonly requestedBy: string;
  readonly channel: 'panel' | 's2s';
  /** What the package states of its making, or null for nothing. */
  readonly stated: ExportStatement | null;
}

const Ids = z.array(z.object({ id: z.string() })).max(1);

const ClaimedRow = z.object({
  job: sealedRow('export_jobs'),
  attempts: z.int(),
  seed: z.instanceof(Uint8Array).nullable(),
});
const JobColumns = z
  .object({
    site_id: z.string(),
    filter: KeptFilter,
    sealed_visitor: SealedBytes.nullable(),
    disclose: DiscloseRequest,
    requested_by: z.string(),
    channel: z.enum(['panel', 's2s']),
    stated: ExportStatement.nullable(),
  })
  .transform(({ site_id: siteId, sealed_visitor: sealedVisitor, requested_by: requestedBy, ...row }) => ({
    ...row,
    siteId,
    sealedVisitor,
    requestedBy,
  }));

/** A claimed export whose row cannot be read, because it was altered or another program wrote it. */
interface UnreadableExport {
  readonly id: string;
  readonly claim: string;
  /** The columns that cannot be read, without their values, which may be personal. Empty if the row was altered. */
  readonly columns: readonly string[];
}

/**
 * Claims the oldest export that is queued, or whose worker sent no heartbeat for 15 s.
 * @returns null if there is no such export
 */
export async function claimExport(db: Queryable, seals: RowSeals): Promise<ClaimedExport | UnreadableExport | null> {
  const claimed = await claimRow(db);
  if (claimed === null) return null;
  const { id, claim, job, attempts, seed } = claimed;
  // Read after the claim is committed, so that an unreadable row does not hold up the other exports.
  const content = await seals.open(job, z.looseObject({}));
  const { data, error } = JobColumns.safeParse(content);
  // An altered row could disclose more than its author may see.
  if (content === null || seed === null) return { id, claim, columns: [] };
  if (data === undefined) return { id, claim, columns: error.issues.map(({ path }) => path.join('.')) };
  return { ...data, id, claim, attempts, seed };
}

/** @returns the claim and the row as the database has it, or null if no export waits */
function claimRow(db: Queryable): Promise<(Claim & z.infer<typeof ClaimedRow>) | null> {
  return withTransaction(db, async (db) => {
    // Locks both rows, so that the claim of another worker is visible.
    const { rows: next } = await db.query(
      `select e.id from exports e join export_jobs j on j.export_id = e.id
        where ${MAY_CLAIM}
        order by e.id limit 1 for no key update of e, j skip locked`,
    );
    const [id] = Ids.parse(next).map((row) => row.id);
    if (id === undefined || !(await enterState(db, id, 'running', { claim: null, reason: null }))) return null;
    const claim = randomUUID();
    const { rows } = await db.query(
      `update export_jobs j
          set claim = $2, attempts = attempts + 1, heartbeat_at = now(), retry_at = null,
              started_at = coalesce(j.started_at, now()), step = null, done = null, total = null, bytes = 0
         from exports e where j.export_id = $1 and e.id = j.export_id
       returning ${sealed('export_jobs', 'j')} as job, j.attempts, e.seed`,
      [id, claim],
    );
    return { id, claim, ...ClaimedRow.parse(rows[0]) };
  });
}

/** A package that was stored completely. */
export interface StoredPackage {
  readonly bytes: number;
  readonly chunks: number;
  /** SHA-256 of the plaintext, 32 bytes. */
  readonly sha256: Uint8Array;
}

type Claim = Pick<ClaimedExport, 'id' | 'claim'>;

/**
 * Renews the claim and writes the progress.
 * @param size bytes of the package so far
 * @returns false if the run must stop: the export was cancelled, erased or taken over
 */
export async function noteProgress(
  db: Queryable,
  { id, claim }: Claim,
  progress: ExportProgress | null,
  size: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update export_jobs j set heartbeat_at = now(), step = $3, done = $4, total = $5, bytes = $6
       from exports e
      where j.export_id = $1 and j.claim = $2 and e.id = j.export_id and e.state = 'running'`,
    [id, claim, progress?.step ?? null, progress?.done ?? null, progress?.total ?? null, size],
  );
  return rowCount === 1;
}

/**
 * Finishes an export whose package is stored.
 * @param sealedDisclosures disclosure strings of a filter by person, encrypted
 * @param retentionMs milliseconds for which the package is kept
 * @returns false if the export was cancelled, erased or taken over before
 */
export function finishExport(
  db: Queryable,
  { id, claim }: Claim,
  stored: StoredPackage,
  result: Pick<ExportResult, 'checkpoint' | 'counts'>,
  sealedDisclosures: Uint8Array | null,
  retentionMs: number,
): Promise<boolean> {
  return withTransaction(db, async (db) => {
    if (!(await enterState(db, id, 'finished', { claim, reason: null }))) return false;
    await db.query(
      `update export_jobs
          set claim = null, step = null, done = null, total = null, sealed_visitor = null, bytes = $2, chunks = $3, sha256 = $4,
              checkpoint = $5, counts = $6, sealed_disclosures = $7, expires_at = now() + $8 * interval '1 millisecond'
        where export_id = $1`,
      [
        id,
        stored.bytes,
        stored.chunks,
        stored.sha256,
        result.checkpoint,
        JSON.stringify(result.counts),
        sealedDisclosures,
        retentionMs,
      ],
    );
    return true;
  });
}

/** Fails an export that another run cannot complete. */
export function failExport(db: Queryable, { id, claim }: Claim, reason: ExportReason): Promise<boolean> {
  return withTransaction(db, async (db) => {
    if (!(await enterState(db, id, 'failed', { claim, reason }))) return false;
    await db.query('update export_jobs set claim = null, sealed_visitor = null where export_id = $1', [id]);
    return true;
  });
}

/**
 * Releases the claim, so that the export runs again.
 * @param isOwnFault true counts the run as an attempt and delays the next run by 30 s
 */
export async function giveBackExport(db: Queryable, { id, claim }: Claim, isOwnFault: boolean): Promise<void> {
  await withTransaction(db, async (db) => {
    if (!(await enterState(db, id, 'queued', { claim, reason: null }))) return;
    await db.query(
      `update export_jobs set claim = null, step = null, done = null, total = null,
              attempts = attempts - $2, retry_at = case when $2 = 0 then now() + ${RETRY} end
        where export_id = $1`,
      [id, isOwnFault ? 0 : 1],
    );
  });
}

/** Throws unless the run with this claim may continue. @throws ExportStopped */
export async function assertClaimed(db: Queryable, { id, claim }: Claim): Promise<void> {
  const { rowCount } = await db.query(
    `select from exports e join export_jobs j on j.export_id = e.id where e.id = $1 and e.state = 'running' and j.claim = $2`,
    [id, claim],
  );
  if (rowCount !== 1) throw new ExportStopped(`export ${id} was cancelled, erased or taken over`);
}

/** The run must stop: its export was cancelled, erased or taken over. */
export class ExportStopped extends Error {
  override readonly name = 'ExportStopped';
}

/** Chunks of about 1 MiB that one statement removes. */
const PAGE = 50;

/**
 * Ends exports whose retention period is over. Then it removes the encrypted values and the chunks
 * that have no key, what a package that is gone stated, and deleted exports without chunks.
 * @param db a handle in the role `consent_ledger_worker`
 */
export async function sweepExports(db: Queryable): Promise<void> {
  await withTransaction(db, async (db) => {
    await expireExports(db);
    await db.query(
      `update export_jobs j set sealed_visitor = null, sealed_disclosures = null, stated = null from exports e
        where e.id = j.export_id and e.seed is null
          and (j.sealed_visitor is not null or j.sealed_disclosures is not null or j.stated is not null)`,
    );
  });
  while (await removeUnreadable(db));
  await removeDeleted(db);
}

async function removeUnreadable(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from export_chunks c using (
       select k.export_id, k.index from export_chunks k join exports e on e.id = k.export_id where e.seed is null limit $1) gone
      where c.export_id = gone.export_id and c.index = gone.index`,
    [PAGE],
  );
  return rowCount === PAGE;
}

async function removeDeleted(db: Queryable): Promise<void> {
  await db.query(
    `with gone as (
       delete from export_jobs j where j.deleted_at is not null
          and not exists (select from export_chunks c where c.export_id = j.export_id)
       returning j.export_id)
     delete from exports e using gone where e.id = gone.export_id`,
  );
}

/** Removes the chunks of one export that an earlier run left. */
export async function removeChunks(db: Queryable, exportId: string): Promise<void> {
  for (;;) {
    const { rowCount } = await db.query(
      `delete from export_chunks where export_id = $1
          and index in (select index from export_chunks where export_id = $1 order by index limit $2)`,
      [exportId, PAGE],
    );
    if (rowCount !== PAGE) return;
  }
}
