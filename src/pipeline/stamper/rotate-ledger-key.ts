import type { StatedTime } from '../../timestamping/acceptance.js';
import { announceLedgerKey } from '../ledger/announce-key.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import { LedgerKeyMismatch } from '../ledger/errors.js';
import type { FollowedLedger } from '../ledger/followed-ledger.js';
import { type LedgerSigner, mlDsaVerifierKeyOf, verifierKeyOf } from '../ledger/ledger-signer.js';
import { readStampsDemanded } from '../ledger/stamps-demanded.js';
import { sealPolicyEvents } from '../sealer/seal.js';
import { type StampingOptions, stampCheckpoint } from './stamp-checkpoint.js';

export interface HandoverOptions extends Omit<StampingOptions, 'openNext'> {
  /**
   * The next keys. They must already be stored, so that no signature is made with keys that could be
   * lost.
   */
  readonly next: LedgerSigner;
  /** Reads the newest time stamp, which the new one must not precede. */
  readonly readNewest: () => Promise<StatedTime | null>;
  readonly now?: () => Date;
}

/**
 * Hands the ledger over from its keys to others (docs/evidence-format.md §8): announces the next keys in
 * the stream `policy`, seals the announcement, and stamps the first checkpoint over it, which all of the
 * keys sign. A checkpoint that too few authorities have stamped is completed first.
 * The call may run beside sealers and stampers, and again after a crash at any point; completed
 * steps are skipped.
 * @returns the ledger's state under the next keys
 * @throws LedgerKeyMismatch if the ledger is under third keys
 * @throws TimestampUnavailable
 * @throws the errors of `announceLedgerKey`, `sealPolicyEvents` and `stampCheckpoint`
 */
export async function handOverLedger(options: HandoverOptions, signal: AbortSignal): Promise<FollowedLedger> {
  const { db, eventLog, signer, next, readNewest, now = () => new Date() } = options;
  let state = await catchUpLedger(db, eventLog);
  while (state.key !== verifierKeyOf(next)) {
    if (state.key !== verifierKeyOf(signer)) throw new LedgerKeyMismatch(state.key, verifierKeyOf(signer));
    await announceLedgerKey(db, eventLog, [verifierKeyOf(next), mlDsaVerifierKeyOf(next)], now);
    state = await sealPolicyEvents(db, eventLog, now);
    const { authorities: quorum } = await readStampsDemanded(db, eventLog, options.quorum);
    const stamping = { ...options, quorum, openNext: async () => next };
    ({ state } = await stampCheckpoint(stamping, state, await readNewest(), signal));
  }
  return state;
}
