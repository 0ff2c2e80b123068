import * as z from 'zod';
import { PublicEventBody } from '../../schemas/events/notices.js';
import { InvalidEventBody, parseBody, parseRecord } from '../../schemas/events/sealed-event.js';
import { consentsStream } from '../../schemas/events/streams.js';
import { SUBJECT_ERASED, type SubjectErasedRecord } from '../../schemas/events/subject-erased.js';
import type { EventLog, LoggedEvent } from '../pipeline/event-log/port.js';
import { type Queryable, withTransaction } from '../platform/database/pool.js';
import { recordsWithoutKey } from '../platform/database/shared-statements.js';
import { cancelForErasure } from '../platform/export-states.js';
import { destroyPersonalData, lockSite, markAnnounced, markErased } from './destroy.js';
import type { ErasureJournal, JournalLine } from './journal.js';
import { destroyTestRecords } from './test-erasures.js';

export interface ApplyErasuresOptions {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly journal: ErasureJournal;
  /** Receives the number of events read. After a restore, many may have to be read. */
  readonly onProgress?: (events: number) => void;
}

/** Numbers of erasures that were applied again. */
export interface AppliedErasures {
  /** `SubjectErased` events of the log that were unknown to this database. */
  readonly fromLog: number;
  /**
   * Lines of the journal with erasures that were unknown to this database. Their records are queued for announcement
   * again, unless the log already has it.
   */
  readonly fromJournal: number;
  /**
   * Truncated lines of the journal: a crash interrupted them, and their transactions were never
   * committed.
   */
  readonly skippedLines: number;
}

const PAGE = 500;
const progressRows = z
  .array(z.object({ log_kind: z.string().nullable(), log_position: z.string().nullable(), journal_offset: z.int() }))
  .length(1);

/**
 * Destroys the key of every record that the log or the journal lists as erased. A restore from a backup may have
 * brought such keys back. Call it before serving the first request, and periodically, so that each start has little to
 * read. It is idempotent and safe to run concurrently.
 * @throws EventLogUnavailable, JournalUnavailable, InvalidEventBody, database errors
 */
export async function applyErasures(options: ApplyErasuresOptions): Promise<AppliedErasures> {
  const fromLog = await applyLog(options);
  return { fromLog, ...(await applyJournal(options)) };
}

async function applyLog({ db, eventLog, onProgress }: ApplyErasuresOptions): Promise<number> {
  const progress = await readProgress(db);
  // A position is valid only in the log of the same adapter.
  let position = progress.log_kind === eventLog.kind ? progress.log_position : null;
  let applied = 0;
  let read = 0;
  for (;;) {
    const page = await eventLog.readAll(position, PAGE);
    applied += await applyEvents(db, page.events);
    read += page.events.length;
    onProgress?.(read);
    if (page.next !== position) {
      position = page.next;
      await db.query('update erasure_progress set log_kind = $1, log_position = $2', [eventLog.kind, position]);
    }
    if (page.atEnd) return applied;
  }
}

/** Applies the announcements among these events. @returns how many were unknown */
async function applyEvents(db: Queryable, events: readonly LoggedEvent[]): Promise<number> {
  const announced = events.filter(({ type }) => type === SUBJECT_ERASED).flatMap((event) => erasureOf(event) ?? []);
  if (announced.length === 0) return 0;
  let applied = 0;
  for (const siteId of new Set(announced.map((record) => record.site_id))) {
    const records = announced.filter((record) => record.site_id === siteId);
    applied += await withTransaction(db, async (db) => {
      await lockSite(db, siteId);
      const unknown = await markAnnounced(db, records);
      if (unknown.length === 0) return 0;
      await destroyPersonalData(
        db,
        unknown.map((record) => record.erased_event_id),
        [],
      );
      await cancelForErasure(db, siteId);
      return unknown.length;
    });
  }
  return applied;
}

/** Returns what an event announces, or null for one that the service did not write, which the sealer reports. */
function erasureOf({ type, data }: LoggedEvent): SubjectErasedRecord | null {
  try {
    return parseRecord(SUBJECT_ERASED, parseBody(PublicEventBody, type, data).record);
  } catch (error) {
    if (error instanceof InvalidEventBody || error instanceof SyntaxError) return null;
    throw error;
  }
}

async function applyJournal({
  db,
  eventLog,
  journal,
}: ApplyErasuresOptions): Promise<Omit<AppliedErasures, 'fromLog'>> {
  const { journal_offset: offset } = await readProgress(db);
  const lost = await lostRecords(db, eventLog, await erasuresOf(journal, offset));
  let fromJournal = 0;
  let skippedLines = 0;
  let next = offset;
  for await (const entry of journal.read(offset)) {
    if (entry.line === null) skippedLines += 1;
    else if (await applyLine(db, entry.line, lost)) fromJournal += 1;
    next = entry.next;
  }
  if (next !== offset) await db.query('update erasure_progress set journal_offset = $1', [next]);
  return { fromJournal, skippedLines };
}

/** Reads the erasures of records in the journal. */
async function erasuresOf(journal: ErasureJournal, offset: number): Promise<NonNullable<JournalLine['erased']>[]> {
  const erasures: NonNullable<JournalLine['erased']>[] = [];
  for await (const { line } of journal.read(offset))
    if (line !== null && line.erased !== null) erasures.push(line.erased);
  return erasures;
}

/**
 * Applies one line of the journal.
 * @param lost event ids of records that neither this database nor the log contains
 */
async function applyLine(db: Queryable, line: JournalLine, lost: ReadonlySet<string>): Promise<boolean> {
  const { erased, approval_tokens: tokens } = line;
  return withTransaction(db, async (db) => {
    await db.query('set local synchronous_commit = on');
    if (line.test_records !== undefined) await destroyTestRecords(db, line.test_records, tokens);
    if (erased === null) return (await destroyPersonalData(db, [], tokens)) > 0;
    // A site that is missing from the backup has no records, and no stream for the announcement.
    const { site_id: siteId, reason } = erased;
    if (!(await lockSite(db, siteId))) return false;
    const deletedTokens = await destroyPersonalData(db, erased.event_ids, tokens);
    const eventIds = erased.event_ids.filter((id) => !lost.has(id));
    const isUnknown = (await markErased(db, { siteId, reason, requestId: null, eventIds })) > 0;
    if (isUnknown) await cancelForErasure(db, siteId);
    return isUnknown || deletedTokens > 0;
  });
}

async function readProgress(db: Queryable): Promise<z.infer<typeof progressRows>[number]> {
  const { rows } = await db.query('select log_kind, log_position, journal_offset from erasure_progress');
  const [row] = progressRows.parse(rows);
  if (row === undefined) throw new RangeError('the table erasure_progress is empty');
  return row;
}

/**
 * Finds the listed records that neither this database nor the log contains. They were admitted
 * after the restored backup and are lost. They must not be announced. The log is read
 * once for each site that has a record unknown to the database.
 * @returns their event ids
 */
async function lostRecords(
  db: Queryable,
  eventLog: EventLog,
  erasures: readonly NonNullable<JournalLine['erased']>[],
): Promise<Set<string>> {
  const bySite = new Map<string, Set<string>>();
  for (const { site_id: siteId, event_ids: ids } of erasures) {
    const unknown = await recordsWithoutKey(db, ids);
    if (unknown.length > 0) bySite.set(siteId, new Set([...(bySite.get(siteId) ?? []), ...unknown]));
  }
  const lost = new Set<string>();
  for (const [siteId, ids] of bySite) {
    await removeFoundInLog(eventLog, consentsStream(siteId), ids);
    for (const id of ids) lost.add(id);
  }
  return lost;
}

async function removeFoundInLog(eventLog: EventLog, stream: string, ids: Set<string>): Promise<void> {
  for (let revision = 0; ids.size > 0; ) {
    const page = await eventLog.readStream(stream, revision, PAGE);
    if (page.length === 0) return;
    for (const { id } of page) ids.delete(id);
    revision += page.length;
  }
}
