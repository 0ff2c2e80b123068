import type * as z from 'zod';
import {
  type CreateErasureRequest,
  type ErasureAnnouncement,
  type ErasureReceipt,
  type Erasure as ErasureSchema,
  MAX_SHOWN_ANNOUNCEMENTS,
} from '../../schemas/api/erasures.js';
import type { Queryable } from '../platform/database/pool.js';
import { type Announcement, countUnannounced, listAnnouncements } from './announcements.js';
import type { ErasureSubject } from './identifiers.js';
import { IDENTIFIER_KINDS, IDENTIFIERS } from './identifiers.js';
import type { Erasure } from './read-erasures.js';
import { readRemains, statementOf } from './remains.js';

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
 * @param backupRetentionDays days; null if not configured
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
