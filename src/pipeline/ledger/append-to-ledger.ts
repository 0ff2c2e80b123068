import { randomUUID } from 'node:crypto';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { AppendOutcomeUnknown, LogBehind, RevisionConflict } from '../event-log/errors.js';
import type { EventLog, NewEvent } from '../event-log/port.js';

/** Creates a new event of the ledger. */
export function ledgerEvent(type: string, body: JsonValue): NewEvent {
  return { id: randomUUID(), type, data: utf8(canonicalJson(body)), metadata: new Uint8Array(0) };
}

/**
 * Appends events to `ledger`, all or none, if the stream still has the expected revision. After any
 * outcome, the caller reads the ledger; only its content is authoritative.
 * @param revision the last revision that the caller has applied
 * @returns false if another process was first, or the response was lost
 * @throws LogBehind, EventLogUnavailable, AppendTooLarge, AppendRefused
 */
export async function tryAppendToLedger(
  eventLog: EventLog,
  revision: number,
  ...events: readonly NewEvent[]
): Promise<boolean> {
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
