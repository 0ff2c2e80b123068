import { z } from 'zod';
import { ensureManifestCertificate } from '../evidence/package/index.js';
import type { EventLog } from '../pipeline/event-log/port.js';
import { catchUpLedger } from '../pipeline/ledger/apply-ledger.js';
import { verifierKeyOf } from '../pipeline/ledger/ledger-signer.js';
import type { LedgerState } from '../pipeline/ledger/ledger-state.js';
import { readNewestStamp } from '../pipeline/stamper/newest-stamp.js';
import { bridgeLedgerKey } from '../pipeline/stamper/rotate-ledger-key.js';
import type { Queryable } from '../platform/database/pool.js';
import type { Keyring } from '../platform/keys/index.js';
import type { TimestampClient } from '../timestamping/client.js';
import { ledgerSignerOf } from './open-ledger-signer.js';

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
  /** Called before a checkpoint leaves the service, to store the head outside the database. */
  readonly rememberHead?: (state: LedgerState) => Promise<void>;
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
 * @throws LedgerKeyMismatch; TimestampUnavailable; KeyError; EventLogUnavailable, errors of the
 *   database
 */
export async function rotateLedgerKey(options: RotationOptions, signal: AbortSignal): Promise<LedgerKeyRotation> {
  const { db, eventLog, keyring, origin, client, quorum, trustAnchors } = options;
  const signer = ledgerSignerOf(await keyring.ledgerKey(), origin);
  const nextKey = await keyring.nextLedgerKey();
  const next = ledgerSignerOf(nextKey, origin);
  const manifestKey = await keyring.manifestKey();
  await ensureManifestCertificate({
    db,
    keyring: { ledgerKey: async () => nextKey, manifestKey: async () => manifestKey },
    origin,
  });
  const readNewest = () => readNewestStamp(db, trustAnchors, new Date());
  const { rememberHead } = options;
  await bridgeLedgerKey(
    { db, eventLog, client, quorum, signer, next, readNewest, ...(rememberHead && { rememberHead }) },
    signal,
  );
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
}: Pick<RotationOptions, 'db' | 'eventLog' | 'keyring' | 'origin'>): Promise<void> {
  const pending = await keyring.pendingLedgerKey();
  if (pending === null) return;
  const { key } = await catchUpLedger(db, eventLog);
  if (key === verifierKeyOf(ledgerSignerOf(pending, origin))) await keyring.promoteNextLedgerKey();
}
