import * as z from 'zod';
import { ERASURE_REASONS, type SubjectErasedRecord } from '../../schemas/events/subject-erased.js';
import type { Queryable } from '../platform/database/pool.js';
import { timeOfEventId } from '../platform/event-ids.js';
import type { BlindIndexKind } from '../platform/keys/index.js';
import { ERASURE_CHANNELS, type ErasureChannel } from './requests.js';

/** A requested erasure and its progress. */
export interface Erasure {
  readonly id: string;
  readonly siteId: string;
  readonly channel: ErasureChannel;
  readonly reason: SubjectErasedRecord['reason'];
  /** Kind of identifier, for the erasure of a person. */
  readonly identifier: BlindIndexKind | null;
  /** Event id, for the erasure of one record. */
  readonly recordId: string | null;
  /** Erases records older than this, for a retention period. */
  readonly olderThan: Date | null;
  readonly requestedAt: Date;
  /**
   * A time at or after the commit that destroyed the last key of the erasure, or null while the erasure is unfinished.
   */
  readonly finishedAt: Date | null;
  readonly erasedRecords: number;
  readonly deletedApprovalTokens: number;
  /** Number of running exports that were stopped. */
  readonly cancelledExports: number;
  /** Number of stored packages whose keys were destroyed. */
  readonly destroyedPackages: number;
}

const COLUMNS = `id, site_id, channel, reason, index_kind, event_id, requested_at, finished_at, erased_count, deleted_token_count,
  cancelled_export_count, destroyed_package_count`;

const erasureRow = z
  .object({
    id: z.string(),
    site_id: z.string(),
    channel: z.enum(ERASURE_CHANNELS),
    reason: z.enum(ERASURE_REASONS),
    index_kind: z.enum(['visitor', 'email', 'phone', 'id_number']).nullable(),
    event_id: z.string().nullable(),
    requested_at: z.date(),
    finished_at: z.date().nullable(),
    erased_count: z.int(),
    deleted_token_count: z.int(),
    cancelled_export_count: z.int(),
    destroyed_package_count: z.int(),
  })
  .transform(
    (row): Erasure => ({
      id: row.id,
      siteId: row.site_id,
      channel: row.channel,
      reason: row.reason,
      identifier: row.index_kind,
      recordId: row.reason === 'record' ? row.event_id : null,
      olderThan: row.reason === 'retention' && row.event_id !== null ? timeOfEventId(row.event_id) : null,
      requestedAt: row.requested_at,
      finishedAt: row.finished_at,
      erasedRecords: row.erased_count,
      deletedApprovalTokens: row.deleted_token_count,
      cancelledExports: row.cancelled_export_count,
      destroyedPackages: row.destroyed_package_count,
    }),
  );

/**
 * Reads an erasure of a site.
 * @param table `test_erasures`: one of its test records
 * @returns null if the site has no erasure with this id
 */
export async function readErasure(
  db: Queryable,
  siteId: string,
  id: string,
  table: 'erasure_requests' | 'test_erasures' = 'erasure_requests',
): Promise<Erasure | null> {
  const { rows } = await db.query(`select ${COLUMNS} from ${table} where id = $1 and site_id = $2`, [id, siteId]);
  return z.array(erasureRow).max(1).parse(rows)[0] ?? null;
}

/** A finished erasure with its announcements. */
export interface ErasureReceipt extends Erasure {
  readonly finishedAt: Date;
  /** Ids of the `SubjectErased` events, oldest first. Empty if no record was found. */
  readonly eventIds: readonly string[];
}

/** Reads the receipt of an erasure. @returns null if it is unknown or not finished */
export async function erasureReceipt(db: Queryable, id: string): Promise<ErasureReceipt | null> {
  const { rows } = await db.query(`select ${COLUMNS} from erasure_requests where id = $1`, [id]);
  const [erasure] = z.array(erasureRow).max(1).parse(rows);
  if (erasure === undefined || erasure.finishedAt === null) return null;
  const events = await db.query('select event_id from erasure_events where request_id = $1 order by event_id', [id]);
  const eventIds = z.array(z.object({ event_id: z.string() })).parse(events.rows);
  return { ...erasure, finishedAt: erasure.finishedAt, eventIds: eventIds.map(({ event_id }) => event_id) };
}

export interface ErasureFilter {
  readonly isFinished: boolean | null;
  readonly reason: Erasure['reason'] | null;
}

/**
 * Lists the erasures of a site, newest first.
 * @param before id of an erasure: only older ones are listed
 */
export async function listErasures(
  db: Queryable,
  siteId: string,
  { isFinished, reason }: ErasureFilter,
  before: string | null,
  limit: number,
): Promise<Erasure[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from erasure_requests
      where site_id = $1 and ($2::uuid is null or id < $2)
        and ($3::boolean is null or (finished_at is not null) = $3) and ($4::text is null or reason = $4)
      order by id desc limit $5`,
    [siteId, before, isFinished, reason, limit],
  );
  return z.array(erasureRow).parse(rows);
}
