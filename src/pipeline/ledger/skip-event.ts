import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { LEDGER_EVENT_SKIPPED, type LedgerEventSkippedBody } from '../../../schemas/events/ledger.js';
import { LEDGER_STREAM } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { AppendOutcomeUnknown, RevisionConflict } from '../event-log/errors.js';
import type { EventLog } from '../event-log/port.js';
import { ledgerEvent } from './append-to-ledger.js';
import { catchUpLedger } from './apply-ledger.js';
import { LedgerCorrupt } from './errors.js';

export interface SkippedEvent {
  readonly body: LedgerEventSkippedBody;
  /** The next event that cannot be applied; null: the ledger can be followed to its end. */
  readonly next: LedgerCorrupt | null;
}

/**
 * Lets the ledger go on after an event that cannot be applied, on the decision of an operator. The event
 * stays in the stream, and so does the record of the decision after it. An event that can be applied is
 * never skipped: it is evidence.
 * @param revision of the event, which the operator has read in the message of `LedgerCorrupt`
 * @param report called with the record before it is appended, to record the decision
 * @returns null if the event of this revision is not the one at which the ledger stands
 * @throws the errors of `catchUpLedger`, of `append` and of `report`
 */
export async function skipLedgerEvent(
  db: Queryable,
  eventLog: EventLog,
  revision: number,
  now: () => Date,
  report: (body: LedgerEventSkippedBody) => Promise<void>,
): Promise<SkippedEvent | null> {
  const fault = await faultOf(db, eventLog);
  const [event] = await eventLog.readStream(LEDGER_STREAM, revision, 1);
  if (fault?.revision !== revision || event === undefined) return null;
  const body: LedgerEventSkippedBody = {
    v: 1,
    created_at: now().toISOString(),
    revision,
    event_id: event.id,
    type: event.type,
    sha256: toHex(sha256(event.data)),
    reason: fault.reason,
  };
  await report(body);
  for (;;) {
    try {
      await eventLog.append(LEDGER_STREAM, await eventLog.lastRevision(LEDGER_STREAM), [
        ledgerEvent(LEDGER_EVENT_SKIPPED, body),
      ]);
    } catch (error) {
      if (!(error instanceof RevisionConflict || error instanceof AppendOutcomeUnknown)) throw error;
    }
    const next = await faultOf(db, eventLog);
    if (next?.revision !== revision) return { body, next };
  }
}

/** The event at which the ledger stands; null: it can be followed to its end. */
async function faultOf(db: Queryable, eventLog: EventLog): Promise<LedgerCorrupt | null> {
  try {
    await catchUpLedger(db, eventLog);
    return null;
  } catch (error) {
    if (error instanceof LedgerCorrupt) return error;
    throw error;
  }
}
