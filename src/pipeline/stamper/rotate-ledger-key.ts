import { LEDGER_KEY_PUBLISHED } from '../../../schemas/events/ledger.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { StatedTime } from '../../timestamping/acceptance.js';
import type { TimestampClient } from '../../timestamping/client.js';
import { eventSize } from '../event-log/new-events.js';
import type { EventLog } from '../event-log/port.js';
import { ledgerEvent, tryAppendToLedger } from '../ledger/append-to-ledger.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import { LedgerKeyMismatch } from '../ledger/errors.js';
import { type FollowedLedger, rootOf } from '../ledger/followed-ledger.js';
import { type LedgerSigner, mlDsaVerifierKeyOf, verifierKeyOf } from '../ledger/ledger-signer.js';
import type { LedgerState } from '../ledger/ledger-state.js';
import { readStampsDemanded } from '../ledger/stamps-demanded.js';
import { sealEmptyBatch } from '../sealer/seal.js';
import { bridgingNote } from './checkpoint-note.js';
import { evidenceOf, keepEvidence, keepNotices } from './keep-evidence.js';
import { type ObtainedStamp, obtainStamp, stampedEvent } from './obtain-stamp.js';
import { stampCheckpoint } from './stamp-checkpoint.js';

export interface BridgeOptions {
  /** In the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly client: TimestampClient;
  /** Number of distinct authorities that must stamp a checkpoint; the policies can demand more. */
  readonly quorum: number;
  /** The current key. */
  readonly signer: LedgerSigner;
  /**
   * The next key. It must already be stored, so that no signature is made with a key that could be
   * lost.
   */
  readonly next: LedgerSigner;
  /** Reads the newest time stamp, which the new one must not precede. */
  readonly readNewest: () => Promise<StatedTime | null>;
  /**
   * Stores the ledger's state outside the database; called before a checkpoint leaves the service.
   */
  readonly rememberHead?: (state: LedgerState) => Promise<void>;
  readonly now?: () => Date;
}

/**
 * Transfers the ledger from one key to another (docs/evidence-format.md §8). A stamped checkpoint
 * names the new key and is signed by both. One append adds all of its time stamps and publishes the
 * new key. A pending checkpoint is completed first. If every size already has a note, an empty batch
 * is sealed.
 * The call may run beside sealers and stampers, and again after a crash at any point; completed
 * steps are skipped.
 * @returns the ledger's state under the new key
 * @throws LedgerKeyMismatch if the ledger is under a third key
 * @throws TimestampUnavailable
 * @throws the errors of `tryAppendToLedger` and `catchUpLedger`
 */
export async function bridgeLedgerKey(options: BridgeOptions, signal: AbortSignal): Promise<FollowedLedger> {
  const { db, eventLog, client, signer, next, readNewest, rememberHead, now = () => new Date() } = options;
  for (;;) {
    const before = await catchUpLedger(db, eventLog);
    if (before.key === verifierKeyOf(next)) return before;
    if (before.key !== verifierKeyOf(signer)) throw new LedgerKeyMismatch(before.key, verifierKeyOf(signer));
    const { authorities: quorum } = await readStampsDemanded(db, eventLog, options.quorum);
    if (before.pending !== null) await stampCheckpoint({ ...options, quorum }, before, await readNewest(), signal);
    const sealed = await sealEmptyBatch(db, eventLog, now, before);
    const { size } = sealed;
    await rememberHead?.(sealed);
    const note = await bridgingNote(signer, next, size, rootOf(sealed.tree));
    const previous = await readNewest();
    const stamps: ObtainedStamp[] = [];
    while (stamps.length < quorum) {
      const exclude = stamps.map(({ stamp }) => stamp.organization);
      stamps.push(await obtainStamp(client, { note, previous, exclude }, signal));
    }
    const stamped = stamps.map((stamp, index) => stampedEvent(stamp, { size, note, number: index + 1, quorum }));
    const published = ledgerEvent(LEDGER_KEY_PUBLISHED, {
      v: 1,
      created_at: now().toISOString(),
      key: verifierKeyOf(next),
      ml_dsa_key: mlDsaVerifierKeyOf(next),
      replaces: { key: verifierKeyOf(signer), bridge_size: size },
      salt_key: null,
    });
    const gathered = stamps.flatMap(({ stamp }) => evidenceOf(stamp));
    const bytes = [...stamped, published].reduce((sum, event) => sum + eventSize(event), 0);
    let current = await keepNotices(db, eventLog, sealed);
    while (current.key === verifierKeyOf(signer) && current.pending === null && (current.stamped?.size ?? 0) < size) {
      const { ledger, rest } = await keepEvidence(db, eventLog, current, gathered, bytes);
      if (ledger === current) await tryAppendToLedger(eventLog, current, ...rest, ...stamped, published);
      current = await catchUpLedger(db, eventLog, { from: ledger });
    }
  }
}
