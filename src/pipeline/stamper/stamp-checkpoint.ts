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
  /** Called before a checkpoint leaves the service, to be remembered outside the database. */
  readonly rememberHead?: (state: LedgerState) => Promise<void>;
}

/**
 * Gets a time-stamp for the checkpoint of `state.size`, and appends it to `ledger`, unless someone else has stamped this size or a larger one
 * meanwhile.
 * @param state applied to the tables: `ledger` holds that size
 * @param previous the newest stamp: the new one must not be before it
 * @returns the ledger's state after, stamped at `state.size` or above, and whether it was this call that stamped it
 * @throws TimestampUnavailable; LedgerKeyMismatch if the ledger's key was changed meanwhile; what `tryAppendToLedger` and `catchUpLedger` throw
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
    // The append succeeds only at this revision: no checkpoint by a key that was replaced meanwhile ever enters the ledger.
    if (current.key !== verifierKeyOf(signer)) throw new LedgerKeyMismatch(current.key, verifierKeyOf(signer));
    await tryAppendToLedger(eventLog, current.revision, event);
    current = await catchUpLedger(db, eventLog);
  }
  return { state: current, isOwn: current.stamped?.sha256 === toHex(sha256(stamp.response)) };
}
