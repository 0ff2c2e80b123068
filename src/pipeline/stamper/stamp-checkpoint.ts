import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { StatedTime } from '../../timestamping/acceptance.js';
import type { TimestampClient } from '../../timestamping/client.js';
import type { EventLog } from '../event-log/port.js';
import { tryAppendToLedger } from '../ledger/append-to-ledger.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import { LedgerKeyMismatch } from '../ledger/errors.js';
import { type LedgerSigner, verifierKeyOf } from '../ledger/ledger-signer.js';
import { type LedgerState, readLedgerRoot } from '../ledger/ledger-state.js';
import { checkpointNote } from './checkpoint-note.js';
import { obtainStamp } from './obtain-stamp.js';

export interface StampingOptions {
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly signer: LedgerSigner;
  readonly client: TimestampClient;
  /**
   * Stores the ledger's state outside the database; called before a checkpoint leaves the service.
   */
  readonly rememberHead?: (state: LedgerState) => Promise<void>;
}

/**
 * Obtains a time stamp for the checkpoint of `state.size` and appends it to `ledger`. Nothing is
 * appended if another process stamped this size or a larger one in the meantime.
 * @param state applied to the tables: `ledger` contains that size
 * @param previous the newest time stamp; the new one must not precede it
 * @returns the ledger's state afterwards, stamped at `state.size` or above, and whether this call
 *   stamped it
 * @throws TimestampUnavailable
 * @throws LedgerKeyMismatch if the ledger's key was changed in the meantime
 * @throws the errors of `tryAppendToLedger` and `catchUpLedger`
 */
export async function stampCheckpoint(
  { db, eventLog, signer, client, rememberHead }: StampingOptions,
  state: LedgerState,
  previous: StatedTime | null,
  signal: AbortSignal,
): Promise<{ readonly state: LedgerState; readonly isOwn: boolean }> {
  const { size } = state;
  const note = checkpointNote(signer, size, await readLedgerRoot(db, size));
  await rememberHead?.(state);
  const { stamp, event } = await obtainStamp({ db, client }, { size, note, previous }, signal);
  let current = await catchUpLedger(db, eventLog);
  while ((current.stamped?.size ?? 0) < size) {
    // The append succeeds only at this revision, so no checkpoint of a replaced key enters the
    // ledger.
    if (current.key !== verifierKeyOf(signer)) throw new LedgerKeyMismatch(current.key, verifierKeyOf(signer));
    await tryAppendToLedger(eventLog, current.revision, event);
    current = await catchUpLedger(db, eventLog);
  }
  return { state: current, isOwn: current.stamped?.sha256 === toHex(sha256(stamp.response)) };
}
