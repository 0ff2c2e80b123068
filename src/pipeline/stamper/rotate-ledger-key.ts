import { LEDGER_KEY_PUBLISHED } from '../../../schemas/events/ledger.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { StatedTime } from '../../timestamping/acceptance.js';
import type { TimestampClient } from '../../timestamping/client.js';
import type { EventLog } from '../event-log/port.js';
import { ledgerEvent, tryAppendToLedger } from '../ledger/append-to-ledger.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import { LedgerKeyMismatch } from '../ledger/errors.js';
import { type LedgerSigner, verifierKeyOf } from '../ledger/ledger-signer.js';
import { type LedgerState, readLedgerRoot } from '../ledger/ledger-state.js';
import { sealEmptyBatch } from '../sealer/seal.js';
import { bridgingNote } from './checkpoint-note.js';
import { obtainStamp } from './obtain-stamp.js';

export interface BridgeOptions {
  /** As `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly client: TimestampClient;
  /** The key in force. */
  readonly signer: LedgerSigner;
  /** The key that is to follow; it must be kept already, so that nobody signs with a key that could be lost. */
  readonly next: LedgerSigner;
  /** The newest stamp, which the new one must not precede. */
  readonly readNewest: () => Promise<StatedTime | null>;
  /** Called before a checkpoint leaves the service, to be remembered outside the database. */
  readonly rememberHead?: (state: LedgerState) => Promise<void>;
  readonly now?: () => Date;
}

/**
 * Has the ledger hand over from one key to another (docs/evidence-format.md §8): a checkpoint that names the new key, signed by both, stamped,
 * and in the same append the new key's publication. Where every size has its note already, an empty batch is sealed first. It may run beside sealers
 * and stampers, and again after a crash at any point: what is done already is left as it is.
 * @returns the ledger's state under the new key
 * @throws LedgerKeyMismatch if the ledger is under a third key; TimestampUnavailable; what `tryAppendToLedger` and `catchUpLedger` throw
 */
export async function bridgeLedgerKey(options: BridgeOptions, signal: AbortSignal): Promise<LedgerState> {
  const { db, eventLog, client, signer, next, readNewest, rememberHead, now = () => new Date() } = options;
  for (;;) {
    const before = await catchUpLedger(db, eventLog);
    if (before.key === verifierKeyOf(next)) return before;
    if (before.key !== verifierKeyOf(signer)) throw new LedgerKeyMismatch(before.key, verifierKeyOf(signer));
    const sealed = await sealEmptyBatch(db, eventLog, now);
    const { size } = sealed;
    await rememberHead?.(sealed);
    const note = bridgingNote(signer, next, size, await readLedgerRoot(db, size));
    const previous = await readNewest();
    const { event: stamped } = await obtainStamp({ db, client }, { size, note, previous }, signal);
    const published = ledgerEvent(LEDGER_KEY_PUBLISHED, {
      v: 1,
      created_at: now().toISOString(),
      key: verifierKeyOf(next),
      replaces: { key: verifierKeyOf(signer), bridge_size: size },
    });
    let current = await catchUpLedger(db, eventLog);
    while (current.key === verifierKeyOf(signer) && (current.stamped?.size ?? 0) < size) {
      await tryAppendToLedger(eventLog, current.revision, stamped, published);
      current = await catchUpLedger(db, eventLog);
    }
  }
}
