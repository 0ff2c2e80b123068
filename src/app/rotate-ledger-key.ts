import { z } from 'zod';
import { ensureManifestCertificate } from '../evidence/package/index.js';
import type { EventLog } from '../pipeline/event-log/port.js';
import { catchUpLedger } from '../pipeline/ledger/apply-ledger.js';
import { guardLedgerAppends, type LedgerGuard } from '../pipeline/ledger/ledger-guard.js';
import { ledgerSignerOf, openLedgerSigner, verifierKeyOf } from '../pipeline/ledger/ledger-signer.js';
import { readNewestStamp } from '../pipeline/stamper/newest-stamp.js';
import { bridgeLedgerKey } from '../pipeline/stamper/rotate-ledger-key.js';
import type { Queryable } from '../platform/database/pool.js';
import type { Keyring } from '../platform/keys/index.js';
import type { TimestampClient } from '../timestamping/client.js';

const BridgeRows = z.tuple([z.object({ bridge_size: z.int() })]);

export interface RotationOptions {
  /** In the role `consent_ledger_worker`. */
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
  /** Size of the checkpoint that both keys signed. */
  readonly bridgeSize: number;
}

/**
 * Replaces the ledger's key. The order is: store the new key, certify the manifest key with it,
 * record the change in the ledger, and sign with the new key. After a crash at any step, the same
 * call continues, and so does a start of the worker (`finishLedgerKeyRotation`). Processes with the
 * old key can no longer stamp and must be restarted.
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
  await bridgeLedgerKey({ db, eventLog, client, quorum, signer, next, readNewest, rememberHead }, signal);
  await keyring.promoteNextLedgerKey();
  const { rows } = await db.query('select bridge_size from ledger_keys where key = $1', [verifierKeyOf(next)]);
  const [{ bridge_size: bridgeSize }] = BridgeRows.parse(rows);
  return { from: verifierKeyOf(signer), to: verifierKeyOf(next), bridgeSize };
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
  const pending = await keyring.pendingLedgerKey();
  if (pending === null) return;
  const { key } = await catchUpLedger(db, eventLog);
  if (key === verifierKeyOf(ledgerSignerOf(pending, origin, guard))) await keyring.promoteNextLedgerKey();
}
