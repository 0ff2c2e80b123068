import * as z from 'zod';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import type { LedgerKeyAnnouncedRecord } from '../../../schemas/events/ledger-key.js';
import type { LedgerPolicySetRecord } from '../../../schemas/events/ledger-policy.js';
import type { PublicEventBody } from '../../../schemas/events/notices.js';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { Queryable } from '../../platform/database/pool.js';
import { AppendOutcomeUnknown, LogBehind, RevisionConflict } from '../event-log/errors.js';
import type { EventLog, NewEvent, StreamEvent } from '../event-log/port.js';

const PAGE = 200;

/** Creates an event of the stream. */
export function policyStreamEvent(type: string, record: LedgerPolicySetRecord | LedgerKeyAnnouncedRecord): NewEvent {
  const body: PublicEventBody = { record: canonicalJson(record) };
  return { id: record.event_id, type, data: utf8(canonicalJson(body)), metadata: new Uint8Array(0) };
}

/**
 * Appends an event to the stream `policy`, unless the stream needs none. Any number of processes may do
 * this concurrently: the expected revision lets one of them append. Each event is also stored in
 * PostgreSQL, from which a restored log can be filled.
 * @param db in the role `consent_ledger_worker`
 * @param next returns the event that the stream needs; null: none. It is asked again after each attempt
 * @returns the stream as it was when it needed none
 * @throws LogBehind if the log ends before the stored events
 * @throws EventLogUnavailable, AppendRefused, database errors; the errors of `next`
 */
export async function appendToPolicyStream(
  db: Queryable,
  eventLog: EventLog,
  next: (events: readonly StreamEvent[]) => Promise<NewEvent | null>,
): Promise<readonly StreamEvent[]> {
  for (;;) {
    const known = await storedRevision(db);
    const events = await readPolicyStream(eventLog);
    const end = events.length - 1;
    if (end < known) throw new LogBehind(POLICY_STREAM, known, end);
    await store(db, events.slice(known + 1));
    const event = await next(events);
    if (event === null) return events;
    try {
      await eventLog.append(POLICY_STREAM, end, [event]);
    } catch (error) {
      // The next round reads the stream: only its content is authoritative.
      if (!(error instanceof RevisionConflict || error instanceof AppendOutcomeUnknown)) throw error;
    }
  }
}

/** Reads the stream of policies and announcements from a revision on. @throws EventLogUnavailable */
export async function readPolicyStream(eventLog: EventLog, from = 0): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for (;;) {
    const page = await eventLog.readStream(POLICY_STREAM, from + events.length, PAGE);
    if (page.length === 0) return events;
    events.push(...page);
  }
}

async function storedRevision(db: Queryable): Promise<number> {
  const { rows } = await db.query('select coalesce(max(revision), -1) as revision from ledger_policies');
  return z.tuple([z.object({ revision: z.int() })]).parse(rows)[0].revision;
}

async function store(db: Queryable, events: readonly StreamEvent[]): Promise<void> {
  for (const { revision, id, type, data } of events) {
    await db.query(
      `insert into ledger_policies (revision, event_id, type, body) values ($1, $2, $3, $4)
       on conflict (revision) do nothing`,
      [revision, id, type, data],
    );
  }
}
