import { randomUUID } from 'node:crypto';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { AppendOutcomeUnknown, LogBehind, RevisionConflict } from '../event-log/errors.js';
import type { EventLog, NewEvent } from '../event-log/port.js';
import { LedgerCorrupt, LedgerRefused } from './errors.js';
import { followEvent } from './ledger-rules.js';
import type { FollowedLedger } from './ledger-state.js';

/** Creates a new event of the ledger. */
export function ledgerEvent(type: string, body: JsonValue): NewEvent {
  return { id: randomUUID(), type, data: utf8(canonicalJson(body)), metadata: new Uint8Array(0) };
}

/**
 * Appends events to `ledger`, all or none, if the stream still ends where `state` does, and if they can be applied
 * there: otherwise the event would stop every worker forever. After any outcome, the caller follows the ledger; only
 * its content is authoritative.
 * @returns false if another process was first, or the response was lost
 * @throws LedgerRefused if an event could not be applied
 * @throws LogBehind, EventLogUnavailable, AppendTooLarge, AppendRefused
 */
export async function tryAppendToLedger(
  eventLog: EventLog,
  state: FollowedLedger,
  ...events: readonly NewEvent[]
): Promise<boolean> {
  await assertFollow(state, events);
  const { revision } = state;
  try {
    await eventLog.append(LEDGER_STREAM, revision, events);
    return true;
  } catch (error) {
    if (error instanceof RevisionConflict && error.actualRevision < revision) {
      throw new LogBehind(LEDGER_STREAM, revision, error.actualRevision);
    }
    if (error instanceof RevisionConflict || error instanceof AppendOutcomeUnknown) return false;
    throw error;
  }
}

async function assertFollow(state: FollowedLedger, events: readonly NewEvent[]): Promise<void> {
  let at = state;
  for (const event of events) {
    const { state: next } = await refuseIfCorrupt(event.type, () => followEvent(at, event));
    at = next;
  }
}

/**
 * Checks an event before it is appended.
 * @throws LedgerRefused instead of LedgerCorrupt; any other error of `check`
 */
export async function refuseIfCorrupt<T>(type: string, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof LedgerCorrupt) throw new LedgerRefused(type, error.reason);
    throw error;
  }
}
