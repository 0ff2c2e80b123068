import * as z from 'zod';
import {
  type CreateErasureRequest,
  type ErasureAnnouncement,
  type ErasureReceipt,
  type Erasure as ErasureSchema,
  MAX_SHOWN_ANNOUNCEMENTS,
} from '../../schemas/api/erasures.js';
import { consentsStream } from '../../schemas/events/streams.js';
import { joinFirstStamp } from '../pipeline/ledger/read-checkpoints.js';
import type { Queryable } from '../platform/database/pool.js';
import { SECRET_COLUMNS } from '../platform/database/secret-columns.js';
import type { Erasure } from './read-erasures.js';
import { type ErasureSubject, IDENTIFIER_KINDS, IDENTIFIERS } from './requests.js';

/** The subject of an erasure request of the HTTP API. */
export function subjectOf({ subject }: z.infer<typeof CreateErasureRequest>): ErasureSubject {
  if (subject.by === 'record') return { kind: 'record', eventId: subject.value };
  return { kind: IDENTIFIER_KINDS[subject.by], value: subject.value };
}

/** An erasure as the HTTP API returns it. */
export function shownErasure(erasure: Erasure): z.infer<typeof ErasureSchema> {
  const { reason, identifier } = erasure;
  return {
    id: erasure.id,
    site_id: erasure.siteId,
    state: erasure.finishedAt === null ? 'pending' : 'finished',
    reason,
    by: identifier === null ? (reason === 'retention' ? 'age' : 'record') : IDENTIFIERS[identifier],
    record_id: erasure.recordId,
    older_than: erasure.olderThan?.toISOString() ?? null,
    channel: erasure.channel,
    requested_at: erasure.requestedAt.toISOString(),
    finished_at: erasure.finishedAt?.toISOString() ?? null,
    erased_records: erasure.erasedRecords,
    deleted_approval_tokens: erasure.deletedApprovalTokens,
    cancelled_exports: erasure.cancelledExports,
    destroyed_packages: erasure.destroyedPackages,
  };
}

/** An announcement as the HTTP API returns it. */
export function shownAnnouncement(announcement: Announcement): z.infer<typeof ErasureAnnouncement> {
  return {
    event_id: announcement.eventId,
    state: announcement.state,
    batch: announcement.batch,
    checkpoint_size: announcement.checkpointSize,
    stamped_time: announcement.stampedTime?.toISOString() ?? null,
  };
}

/**
 * The receipt of an erasure, finished or not.
 * @param backupRetentionDays days, or null if the operator has not configured them
 */
export async function shownReceipt(
  db: Queryable,
  erasure: Erasure,
  backupRetentionDays: number | null,
): Promise<z.infer<typeof ErasureReceipt>> {
  const announcements = await listAnnouncements(db, erasure, null, MAX_SHOWN_ANNOUNCEMENTS + 1);
  const remains = await readRemains(db, erasure, backupRetentionDays);
  return {
    ...shownErasure(erasure),
    announcements: announcements.slice(0, MAX_SHOWN_ANNOUNCEMENTS).map(shownAnnouncement),
    unannounced_records: await countUnannounced(db, erasure),
    has_more_announcements: announcements.length > MAX_SHOWN_ANNOUNCEMENTS,
    remains: {
      keys_sampled: remains.areKeysSampled,
      scrubbed_at: remains.scrubbedAt?.toISOString() ?? null,
      backup_retention_days: remains.backupRetentionDays,
      backups_until: remains.backupsUntil?.toISOString() ?? null,
    },
    statement: [...statementOf(erasure, remains)],
  };
}

/** States of an announcement, in order. */
export const ANNOUNCEMENT_STATES = ['waiting', 'logged', 'sealed', 'stamped'] as const;

/**
 * A queued `SubjectErased` of an erasure: `waiting` for the log, `logged`, `sealed` in a Merkle batch, or `stamped`
 * with that batch.
 */
interface Announcement {
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

/**
 * Lists the announcements of an erasure, oldest first.
 * @param after id of an announcement: only later ones are listed
 */
export async function listAnnouncements(
  db: Queryable,
  { id, siteId }: Pick<Erasure, 'id' | 'siteId'>,
  after: string | null,
  limit: number,
): Promise<Announcement[]> {
  const { rows } = await db.query(
    `select e.event_id,
            exists (select from event_log.waiting_events w
                     where w.site_id = $2 and w.id = e.event_id) as is_waiting,
            l.batch, c.size, c.gen_time
       from erasure_events e
       left join leaves l on l.event_id = e.event_id and l.stream = $3
       ${joinFirstStamp('l.batch', 'size, gen_time', 'c')}
      where e.request_id = $1 and ($4::uuid is null or e.event_id > $4)
      order by e.event_id limit $5`,
    [id, siteId, consentsStream(siteId), after, limit],
  );
  return z.array(announcementRow).parse(rows);
}

/** Number of records of an erasure whose announcement is not queued yet. */
async function countUnannounced(db: Queryable, { id }: Pick<Erasure, 'id'>): Promise<number> {
  const { rows } = await db.query(
    'select count(*)::integer as records from erased_records where request_id = $1 and erasure_event_id is null',
    [id],
  );
  return countRows.parse(rows)[0].records;
}

const countRows = z.tuple([z.object({ records: z.int() })]);

/** Places where erased values could still be decrypted with the master key. */
export interface Remains {
  /** Whether any key or approval token was destroyed. */
  readonly isAnythingDestroyed: boolean;
  /**
   * Whether the planner statistics of the database hold samples of keys, with which its users could still decrypt
   * erased values. The schema prevents this, but an operator can have changed the schema.
   */
  readonly areKeysSampled: boolean;
  /** When deleted bytes were removed from the database's files, or null if they were not yet. */
  readonly scrubbedAt: Date | null;
  /** How long backups are kept, in days, or null if the operator has not configured this. */
  readonly backupRetentionDays: number | null;
  /**
   * The time until which backups from before the erasure may exist, or null if it is unknown or nothing was destroyed.
   */
  readonly backupsUntil: Date | null;
}

const DAY_MS = 86_400_000;

const scrubRows = z.array(z.object({ finished_at: z.date() })).max(1);
const sampleRows = z.tuple([z.object({ are_sampled: z.boolean() })]);
/** Tables with the keys that an erasure destroys. */
const KEY_TABLES = ['record_keys', 'persons', 'approval_tokens', 'exports', 'test_records', 'test_approval_tokens'];

/**
 * Reads where data of an erasure could still remain.
 * @param db a handle that may SELECT from the tables of keys
 * @param backupRetentionDays days, or null if the operator has not configured them
 */
export async function readRemains(
  db: Queryable,
  erasure: Erasure,
  backupRetentionDays: number | null,
): Promise<Remains> {
  const { finishedAt } = erasure;
  const isAnythingDestroyed = erasure.erasedRecords > 0 || erasure.deletedApprovalTokens > 0;
  if (!isAnythingDestroyed || finishedAt === null) {
    return { isAnythingDestroyed, areKeysSampled: false, scrubbedAt: null, backupRetentionDays, backupsUntil: null };
  }
  return {
    isAnythingDestroyed,
    areKeysSampled: await areKeysSampled(db),
    scrubbedAt: await firstScrubSince(db, finishedAt),
    backupRetentionDays,
    backupsUntil: backupRetentionDays === null ? null : new Date(finishedAt.getTime() + backupRetentionDays * DAY_MS),
  };
}

/**
 * Finds the first scrub of the database's files that started after a given time.
 * @returns when it ended, or null if there was none
 */
async function firstScrubSince(db: Queryable, moment: Date): Promise<Date | null> {
  const { rows } = await db.query('select finished_at from scrubs where started_at >= $1 order by started_at limit 1', [
    moment,
  ]);
  return scrubRows.parse(rows)[0]?.finished_at ?? null;
}

async function areKeysSampled(db: Queryable): Promise<boolean> {
  const columns = KEY_TABLES.flatMap((table) => (SECRET_COLUMNS[table] ?? []).map((column) => ({ table, column })));
  const { rows } = await db.query(
    `select exists (
       select from unnest($1::text[], $2::text[]) as w (name, col)
         join pg_class c on c.oid = w.name::regclass join pg_namespace n on n.oid = c.relnamespace
         join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = w.col) as are_sampled`,
    [columns.map(({ table }) => table), columns.map(({ column }) => column)],
  );
  return sampleRows.parse(rows)[0].are_sampled;
}

/** Describes in sentences, for a data-protection officer, where erased data could still remain. */
export function statementOf(erasure: Pick<Erasure, 'finishedAt'>, remains: Remains): readonly string[] {
  if (erasure.finishedAt === null) return ['The erasure is in progress. The part that is done is final.'];
  if (!remains.isAnythingDestroyed) return ['No record was found to erase, and nothing was destroyed.'];
  return [
    remains.areKeysSampled
      ? 'The keys of the erased values are destroyed, but the planner statistics of the database hold samples of keys, because its schema was changed. A user of the database who has the master key may still read some of the values until an operator runs “consent-ledger admin scrub”.'
      : 'The keys of the erased values are destroyed. Neither the service nor a user of its database can read these values any more.',
    remains.scrubbedAt === null
      ? 'The files of the database and its WAL may contain the deleted bytes until an operator runs “consent-ledger admin scrub”.'
      : `The deleted bytes were removed from the files of the database by ${remains.scrubbedAt.toISOString()}. Its WAL may contain them until its segments are recycled.`,
    backupsInWords(remains),
    'Evidence packages that were downloaded or exported before the erasure are not changed. Their owners are responsible for them.',
  ];
}

function backupsInWords({ backupsUntil, backupRetentionDays }: Remains): string {
  if (backupsUntil === null) {
    return 'Backups of the database that were made before the erasure could still reveal the values. Their retention is not configured (BACKUP_RETENTION_DAYS): ask the operator of the backups.';
  }
  if (backupRetentionDays === 0) return 'The operator keeps no backups of the database (BACKUP_RETENTION_DAYS is 0).';
  return `Backups of the database that were made before the erasure could reveal the values until ${backupsUntil.toISOString()}. This holds if the operator destroys each backup ${backupRetentionDays} days after its start, as configured (BACKUP_RETENTION_DAYS).`;
}
