import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { LEDGER_EVENT_SKIPPED, LEDGER_RESTORED, type LedgerEventSkippedBody } from '../../../schemas/events/ledger.js';
import { LEDGER_STREAM } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { AppendOutcomeUnknown, RevisionConflict } from '../event-log/errors.js';
import type { EventLog } from '../event-log/port.js';
import { ledgerEvent, tryAppendToLedger } from './append-to-ledger.js';
import { catchUpLedger } from './apply-ledger.js';
import { LedgerCorrupt } from './errors.js';
import type { LedgerHead, LedgerHeadFile } from './head-file.js';
import { continues, headOf } from './ledger-guard.js';
import { rootOf } from './ledger-state.js';

/**
 * Lets this installation sign for a ledger whose head file is missing, if an operator decides so. The new file starts
 * with the head that the ledger has now.
 * @param report called with that head before it is written, to record the decision
 * @returns null if there already is a file, so that nothing has to be adopted
 * @throws LedgerHeadUnreadable; the errors of `catchUpLedger` and of `report`; errors of the file system
 */
export async function adoptLedger(
  db: Queryable,
  eventLog: EventLog,
  file: LedgerHeadFile,
  report: (head: LedgerHead) => Promise<void>,
): Promise<LedgerHead | null> {
  if ((await file.read()) !== null) return null;
  const ledger = await catchUpLedger(db, eventLog);
  const head = headOf(ledger, rootOf(ledger.tree));
  await report(head);
  await file.write(head);
  return head;
}

/**
 * Accepts a ledger that lost its end, if an operator decides so. The ledger records this permanently, and the file
 * restarts with the current head.
 * @returns null if nothing was lost
 * @throws the errors of `catchUpLedger` and `tryAppendToLedger`
 */
export async function acceptRestoredLedger(
  db: Queryable,
  eventLog: EventLog,
  file: LedgerHeadFile,
): Promise<{ readonly lostFromSize: number; readonly head: LedgerHead } | null> {
  const head = await file.read();
  let state = await catchUpLedger(db, eventLog);
  if (head === null || (await continues(db, state, head))) return null;
  const lostFromSize = Math.min(state.size, head.size);
  const event = ledgerEvent(LEDGER_RESTORED, {
    v: 1,
    created_at: new Date().toISOString(),
    lost_from_size: lostFromSize,
    head: { size: head.size, root: head.root, revision: head.revision, key: head.key },
  });
  while (!(await tryAppendToLedger(eventLog, state, event))) state = await catchUpLedger(db, eventLog);
  state = await catchUpLedger(db, eventLog, { from: state });
  await file.write(headOf(state, rootOf(state.tree)));
  return { lostFromSize, head };
}

export interface SkippedEvent {
  readonly body: LedgerEventSkippedBody;
  /** The next event that cannot be applied, or null if the ledger can be followed to its end. */
  readonly next: LedgerCorrupt | null;
}

/**
 * Lets the ledger continue after an event that cannot be applied, if an operator decides so. The event stays in the
 * stream, followed by a record of the decision. An event that can be applied is never skipped, because it is evidence.
 * @param revision revision of the event, which the operator has read in the message of `LedgerCorrupt`
 * @param report called with the record before it is appended, to record the decision
 * @returns null if this revision is not the one at which the ledger is stuck
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

/** Returns the event at which the ledger is stuck, or null if it can be followed to its end. */
async function faultOf(db: Queryable, eventLog: EventLog): Promise<LedgerCorrupt | null> {
  try {
    await catchUpLedger(db, eventLog);
    return null;
  } catch (error) {
    if (error instanceof LedgerCorrupt) return error;
    throw error;
  }
}
