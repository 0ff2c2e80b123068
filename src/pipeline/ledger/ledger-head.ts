import { LEDGER_RESTORED } from '../../../schemas/events/ledger.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog } from '../event-log/port.js';
import { ledgerEvent, tryAppendToLedger } from './append-to-ledger.js';
import { catchUpLedger } from './apply-ledger.js';
import { rootOf } from './followed-ledger.js';
import type { LedgerHead, LedgerHeadFile } from './head-file.js';
import { continues, headOf } from './ledger-guard.js';

/**
 * Lets this installation sign for a ledger whose head file is missing, on the decision of an
 * operator: the file begins with the head that the ledger has now.
 * @param report called with that head before it is written, to record the decision
 * @returns null if there is a file already: nothing has to be adopted
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
 * Accepts, on the decision of an operator, a ledger that lost its end. The ledger records this
 * permanently, and the file restarts with the current head.
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
