import { ensureManifestCertificate } from '../evidence/package/index.js';
import type { EventLog } from '../pipeline/event-log/port.js';
import { catchUpLedger } from '../pipeline/ledger/apply-ledger.js';
import { guardLedgerAppends, type LedgerGuard } from '../pipeline/ledger/ledger-guard.js';
import {
  type LedgerSigner,
  ledgerSignerOf,
  openLedgerSigner,
  verifierKeyOf,
} from '../pipeline/ledger/ledger-signer.js';
import { readNewestStamp } from '../pipeline/stamper/newest-stamp.js';
import { handOverLedger } from '../pipeline/stamper/stamp-checkpoint.js';
import type { Queryable } from '../platform/database/pool.js';
import type { Keyring } from '../platform/keys/index.js';
import type { TimestampClient } from '../timestamping/client.js';

export interface RotationOptions {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly keyring: Keyring;
  /** Origin of the ledger. */
  readonly origin: string;
  readonly client: TimestampClient;
  /** Number of distinct authorities that must stamp a checkpoint. */
  readonly quorum: number;
  /** DER of the configured root certificates. */
  readonly trustAnchors: readonly Uint8Array[];
  /** Asked before each signature, and before each append to the ledger. */
  readonly guard: LedgerGuard;
}

export interface LedgerKeyRotation {
  /** Verifier-key lines. */
  readonly from: string;
  readonly to: string;
  /** Size of the newest stamped checkpoint: both keys signed it, or an earlier one that it extends. */
  readonly size: number;
}

/**
 * Replaces the ledger's keys. The order is: store the new keys, certify the manifest key with them, announce them in
 * the ledger, stamp a checkpoint that all keys sign, and sign with the new keys. After a crash at any step, the same
 * call continues. A running stamper can also stamp that checkpoint (`openNextSigner`), and the next start of a worker
 * finishes the rotation (`finishLedgerKeyRotation`). Processes with the old keys can no longer stamp and must be
 * restarted.
 * @throws the errors of `LedgerGuard.check`; LedgerKeyMismatch; TimestampUnavailable; KeyError; EventLogUnavailable, errors of the
 *   database
 */
export async function rotateLedgerKey(options: RotationOptions, signal: AbortSignal): Promise<LedgerKeyRotation> {
  const { db, keyring, origin, client, quorum, trustAnchors, guard } = options;
  const eventLog = guardLedgerAppends(options.eventLog, guard);
  const signer = await openLedgerSigner({ keyring, origin, guard });
  const next = ledgerSignerOf(await keyring.nextLedgerKey(), origin, guard);
  await ensureManifestCertificate({ db, keyring, signer: next });
  const readNewest = () => readNewestStamp(db, trustAnchors, new Date());
  const rememberHead = () => guard.check();
  const { stamped } = await handOverLedger(
    { db, eventLog, client, quorum, signer, next, readNewest, rememberHead },
    signal,
  );
  await keyring.promoteNextLedgerKey();
  return { from: verifierKeyOf(signer), to: verifierKeyOf(next), size: stamped?.size ?? 0 };
}

/** Opens the keys of a rotation that is not finished, or null if there is none. @throws KeyError */
export async function openNextSigner({
  keyring,
  origin,
  guard,
}: Pick<RotationOptions, 'keyring' | 'origin' | 'guard'>): Promise<LedgerSigner | null> {
  const pending = await keyring.pendingLedgerKey();
  return pending && ledgerSignerOf(pending, origin, guard);
}

/**
 * Completes a rotation that was interrupted after the ledger had recorded it: the new key becomes
 * the signing key.
 * @throws errors of `catchUpLedger`; KeyError
 */
export async function finishLedgerKeyRotation({
  db,
  eventLog,
  keyring,
  origin,
  guard,
}: Pick<RotationOptions, 'db' | 'eventLog' | 'keyring' | 'origin' | 'guard'>): Promise<void> {
  const next = await openNextSigner({ keyring, origin, guard });
  if (next === null) return;
  const { key } = await catchUpLedger(db, eventLog);
  if (key === verifierKeyOf(next)) await keyring.promoteNextLedgerKey();
}
