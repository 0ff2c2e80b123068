import { z } from 'zod';
import { PublicEventBody } from '../../schemas/events/notices.js';
import { parseBody, parseRecord } from '../../schemas/events/sealed-event.js';
import { SUBJECT_ERASED, type SubjectErasedRecord } from '../../schemas/events/subject-erased.js';
import type { EventLog, LoggedEvent } from '../pipeline/event-log/port.js';
import type { Queryable } from '../platform/database/pool.js';
import { withTransaction } from '../platform/database/pool.js';
import {
  cancelExports,
  destroyPersonalData,
  lockSite,
  markErased,
  markErasureEvent,
  sendSubjectErased,
} from './destroy.js';
import type { ErasureJournal } from './journal.js';
import type { JournalLine } from './journal-line.js';
import { lostRecords } from './lost-records.js';

export interface ApplyErasuresOptions {
  /** In the role `consent_ledger_worker`. */
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
   * Erasures of the journal that were unknown to this database; those of records are in the outbox
   * again.
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
 * Destroys the key of every record that the log or the journal lists as erased. A restore from a
 * backup may have brought such keys back. Call it before the first request is served, and
 * periodically, so that a start has little to read. It is idempotent and safe to run concurrently.
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
    for (const event of page.events) {
      if (event.type === SUBJECT_ERASED && (await applyEvent(db, event))) applied += 1;
    }
    read += page.events.length;
    onProgress?.(read);
    if (page.next !== position) {
      position = page.next;
      await db.query('update erasure_progress set log_kind = $1, log_position = $2', [eventLog.kind, position]);
    }
    if (page.atEnd) return applied;
  }
}

async function applyEvent(db: Queryable, event: LoggedEvent): Promise<boolean> {
  const { record } = parseBody(PublicEventBody, event.type, event.data);
  const erased = parseRecord(SUBJECT_ERASED, record);
  return withTransaction(db, async (db) => {
    await lockSite(db, erased.site_id);
    if (!(await markErasureEvent(db, event.id, null))) return false;
    await destroyPersonalData(db, erased.erased_event_ids, []);
    await markErased(db, erased);
    await cancelExports(db, erased.site_id);
    return true;
  });
}

async function applyJournal({
  db,
  eventLog,
  journal,
}: ApplyErasuresOptions): Promise<Omit<AppliedErasures, 'fromLog'>> {
  const { journal_offset: offset } = await readProgress(db);
  const lost = await lostRecords(db, eventLog, await unknownErasures(db, journal, offset));
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

/** Reads the erasures of the journal that this database does not know. */
async function unknownErasures(db: Queryable, journal: ErasureJournal, offset: number): Promise<SubjectErasedRecord[]> {
  const unknown: SubjectErasedRecord[] = [];
  for await (const { line } of journal.read(offset)) {
    const record = line?.subject_erased ?? null;
    if (record === null) continue;
    const { rowCount } = await db.query('select from erasure_events where event_id = $1', [record.event_id]);
    if (rowCount === 0) unknown.push(record);
  }
  return unknown;
}

/**
 * Applies one line of the journal.
 * @param lost event ids of records that neither this database nor the log contains
 */
async function applyLine(db: Queryable, line: JournalLine, lost: ReadonlySet<string>): Promise<boolean> {
  const { subject_erased: record, approval_tokens: tokens } = line;
  return withTransaction(db, async (db) => {
    await db.query('set local synchronous_commit = on');
    if (record === null) return (await destroyPersonalData(db, [], tokens)) > 0;
    // A site that is missing in the backup has no records, and no stream for the announcement.
    if (!(await lockSite(db, record.site_id))) return false;
    const isUnknown = await markErasureEvent(db, record.event_id, null);
    const deletedTokens = await destroyPersonalData(db, record.erased_event_ids, tokens);
    if (!isUnknown) return deletedTokens > 0;
    await cancelExports(db, record.site_id);
    const erased = { ...record, erased_event_ids: record.erased_event_ids.filter((id) => !lost.has(id)) };
    if (erased.erased_event_ids.length === 0) return deletedTokens > 0;
    await markErased(db, erased);
    await sendSubjectErased(db, erased);
    return true;
  });
}

async function readProgress(db: Queryable): Promise<z.infer<typeof progressRows>[number]> {
  const { rows } = await db.query('select log_kind, log_position, journal_offset from erasure_progress');
  const [row] = progressRows.parse(rows);
  if (row === undefined) throw new RangeError('the table erasure_progress is empty');
  return row;
}
