import type pg from 'pg';
import { z } from 'zod';
import { consentsStream } from '../../schemas/events/streams.js';
import { ERASURE_REASONS, type SubjectErasedRecord } from '../../schemas/events/subject-erased.js';
import type { BlindIndexKind } from '../keys/index.js';
import { timeOfEventId } from './event-id-times.js';
import { ERASURE_CHANNELS, type ErasureChannel } from './requests.js';

type Queryable = Pick<pg.Pool, 'query'>;

/** An erasure that was asked for, and what it has done so far. */
export interface Erasure {
  readonly id: string;
  readonly siteId: string;
  readonly channel: ErasureChannel;
  readonly reason: SubjectErasedRecord['reason'];
  /** Of a person: by which kind of identifier. */
  readonly identifier: BlindIndexKind | null;
  /** Of one record. */
  readonly recordId: string | null;
  /** Of a retention period: records older than this. */
  readonly olderThan: Date | null;
  readonly requestedAt: Date;
  /** Not before the commit that destroyed its last key; null: it goes on. */
  readonly finishedAt: Date | null;
  readonly erasedRecords: number;
  readonly deletedApprovalTokens: number;
  /** Exports that were running. */
  readonly cancelledExports: number;
  /** Finished packages that the service kept. */
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

/** An erasure of a site; null if the site has none of this id. */
export async function readErasure(db: Queryable, siteId: string, id: string): Promise<Erasure | null> {
  const { rows } = await db.query(`select ${COLUMNS} from erasure_requests where id = $1 and site_id = $2`, [
    id,
    siteId,
  ]);
  return z.array(erasureRow).max(1).parse(rows)[0] ?? null;
}

/** A finished erasure with what it announced. */
export interface ErasureReceipt extends Erasure {
  readonly finishedAt: Date;
  /** Ids of the `SubjectErased` events, oldest first; none if there was no record. */
  readonly eventIds: readonly string[];
}

/** The receipt of a finished erasure; null if it is unknown or not finished. */
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

/** The erasures of a site, the newest first. @param before id of one: only older ones */
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

/** How far the announcement of an erasure is: each state includes those before it. */
export const ANNOUNCEMENT_STATES = ['waiting', 'logged', 'sealed', 'stamped'] as const;

/** A `SubjectErased` of an erasure: `waiting` for the log, `logged`, `sealed` in a batch, or `stamped` with it. */
export interface Announcement {
  readonly eventId: string;
  readonly state: (typeof ANNOUNCEMENT_STATES)[number];
  readonly batch: number | null;
  /** Size of the first stamped checkpoint that covers it. */
  readonly checkpointSize: number | null;
  readonly stampedTime: Date | null;
}

const announcementRow = z
  .object({
    event_id: z.string(),
    is_waiting: z.boolean(),
    batch: z.int().nullable(),
    size: z.int().nullable(),
    gen_time: z.date().nullable(),
  })
  .transform(
    (row): Announcement => ({
      eventId: row.event_id,
      state: row.size !== null ? 'stamped' : row.batch !== null ? 'sealed' : row.is_waiting ? 'waiting' : 'logged',
      batch: row.batch,
      checkpointSize: row.size,
      stampedTime: row.gen_time,
    }),
  );

/** The announcements of an erasure, in the order in which they were made. @param after id of one: only later ones */
export async function listAnnouncements(
  db: Queryable,
  { id, siteId }: Pick<Erasure, 'id' | 'siteId'>,
  after: string | null,
  limit: number,
): Promise<Announcement[]> {
  const { rows } = await db.query(
    `select e.event_id,
            exists (select from outbox o where o.site_id = $2 and o.revision is null and o.event_id = e.event_id) as is_waiting,
            l.batch, c.size, c.gen_time
       from erasure_events e
       left join leaves l on l.event_id = e.event_id and l.stream = $3
       left join lateral (select size, gen_time from checkpoints where size > l.batch order by size limit 1) c on true
      where e.request_id = $1 and ($4::uuid is null or e.event_id > $4)
      order by e.event_id limit $5`,
    [id, siteId, consentsStream(siteId), after, limit],
  );
  return z.array(announcementRow).parse(rows);
}

const scrubRows = z.array(z.object({ finished_at: z.date() })).max(1);

/** When the database's files were first scrubbed after a moment; null: not yet. */
export async function firstScrubSince(db: Queryable, moment: Date): Promise<Date | null> {
  const { rows } = await db.query('select finished_at from scrubs where started_at >= $1 order by started_at limit 1', [
    moment,
  ]);
  return scrubRows.parse(rows)[0]?.finished_at ?? null;
}

/** Where values could still be opened after an erasure, by whoever has the master key too. */
export interface Remains {
  /** Whether any key or approval token was destroyed. */
  readonly isAnythingDestroyed: boolean;
  /** When deleted bytes were removed from the database's files; null: not yet. */
  readonly scrubbedAt: Date | null;
  /** Days for which backups are kept; null: the service was not told. */
  readonly backupRetentionDays: number | null;
  /** Until when backups made before the erasure can exist; null: not known, or nothing was destroyed. */
  readonly backupsUntil: Date | null;
}

const DAY_MS = 86_400_000;

/** @param scrubbedAt as `firstScrubSince` the erasure's end */
export function remainsOf(erasure: Erasure, scrubbedAt: Date | null, backupRetentionDays: number | null): Remains {
  const { finishedAt } = erasure;
  const isAnythingDestroyed = erasure.erasedRecords > 0 || erasure.deletedApprovalTokens > 0;
  const isKnown = isAnythingDestroyed && finishedAt !== null && backupRetentionDays !== null;
  return {
    isAnythingDestroyed,
    scrubbedAt: isAnythingDestroyed ? scrubbedAt : null,
    backupRetentionDays,
    backupsUntil: isKnown ? new Date(finishedAt.getTime() + backupRetentionDays * DAY_MS) : null,
  };
}

/** The remains in words, for a data-protection officer. */
export function statementOf(erasure: Erasure, remains: Remains): readonly string[] {
  if (erasure.finishedAt === null) return ['The erasure is under way: what it has done so far is final.'];
  if (!remains.isAnythingDestroyed) return ['Nothing was found to erase; nothing was destroyed.'];
  return [
    'The keys of the erased values are destroyed: the service cannot open these values any more, nor can anyone by asking its database.',
    remains.scrubbedAt === null
      ? 'The database’s files, and its WAL, may hold the deleted bytes until an operator runs “consent-ledger admin scrub”.'
      : `The deleted bytes were removed from the database’s files by ${remains.scrubbedAt.toISOString()}; its WAL may hold them until its segments are recycled.`,
    backupsInWords(remains),
    'Packages that were downloaded or exported before belong to whoever has them.',
  ];
}

function backupsInWords({ backupsUntil, backupRetentionDays }: Remains): string {
  if (backupsUntil === null) {
    return 'Until when backups of the database could still open the values is not known: the service was not told how long they are kept (BACKUP_RETENTION_DAYS). Ask whoever keeps them.';
  }
  if (backupRetentionDays === 0) return 'No backups of the database are kept (BACKUP_RETENTION_DAYS is 0).';
  return `Backups of the database that were made before could open the values until ${backupsUntil.toISOString()}, if none is kept longer than the ${backupRetentionDays} days, counted from its start, that the service was told.`;
}
