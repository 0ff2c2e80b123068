import { z } from 'zod';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { CONSENT_RECORDED, type ConsentRecord } from '../../../schemas/events/consent-recorded.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import { isProofHashOf, KeyError, type Keyring, type ProofKey } from '../../platform/keys/index.js';
import { checkBatch, type OnDamagedNodes } from './check-batch.js';
import { checkCheckpoint } from './check-checkpoint.js';
import { isErasureReal } from './check-erasure.js';
import { columnsAgree, erasureAgrees, readRecord } from './check-record.js';
import type { RecordIdentifier } from './identifier.js';
import { readSealedEvidence } from './sealed-evidence.js';
import { SealedRuns } from './sealed-runs.js';
import { findStoredRecord, type StoredRecord } from './stored-record.js';

/** The result of an integrity check. */
export interface Verification {
  readonly valid: boolean;
  /** The stored record; null if the stored text is not a record. */
  readonly record: ConsentRecord | null;
  readonly proofHash: string;
  readonly hashValid: boolean;
  /** Null while the record is in no batch. */
  readonly merkleValid: boolean | null;
  readonly isAnonymized: boolean;
  /**
   * The earliest time stamp that covers the record; null if there is none, or if a check of it
   * fails.
   */
  readonly timestamp: { readonly time: Date; readonly checkpointSize: number } | null;
  /** From the configuration whose hash the record contains; null if it is missing or altered. */
  readonly siteDomain: string | null;
}

/**
 * Checks stored records (docs/http-api.md, “What verify checks”). Every value in the result comes
 * from bytes that this check has hashed, and all copies must agree.
 */
export interface Verifier {
  /**
   * Checks one record.
   * @param tenantId limits the search to the records of this tenant; null: all tenants
   * @returns null for an unknown record
   * @throws EventLogUnavailable, KeyError, database errors
   */
  verify(identifier: RecordIdentifier, tenantId: string | null): Promise<Verification | null>;
}

export interface VerifierOptions {
  /** In the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly keyring: Keyring;
  readonly eventLog: EventLog;
  /** Reports damage that does not change the result. */
  readonly onDamagedNodes: OnDamagedNodes;
}

interface CheckOptions extends VerifierOptions {
  readonly sealedRuns: SealedRuns;
}

/** Creates a verifier. */
export function createVerifier(options: VerifierOptions): Verifier {
  const sealedRuns = new SealedRuns();
  return {
    verify: (identifier, tenantId) =>
      withTransaction(
        options.db,
        async (db) => {
          const stored = await findStoredRecord(db, identifier, tenantId);
          return stored === null ? null : verifyStored({ ...options, db, sealedRuns }, stored);
        },
        { isolation: 'repeatable read' },
      ),
  };
}

async function verifyStored(options: CheckOptions, stored: StoredRecord): Promise<Verification> {
  const { db, keyring } = options;
  const record = readRecord(stored.record);
  const key = record === null ? null : await proofKeyOf(keyring, record.proof_key_id);
  const hashValid = key !== null && isProofHashOf(stored.record, stored.proof_hash, key.key);
  const isOwners = key !== null && key.tenantId === stored.tenant_id;
  const isCopyExact = record !== null && columnsAgree(stored, record);
  const isErasureSound = erasureAgrees(stored) && (await isErasureReal(options, stored));
  const { merkleValid, timestamp } = await verifySealing(options, stored, record);
  const siteDomain = record === null ? null : await domainOf(db, record.site_config_hash);
  return {
    valid: hashValid && isOwners && isCopyExact && isErasureSound && merkleValid !== false && siteDomain !== null,
    record,
    proofHash: stored.proof_hash,
    hashValid,
    merkleValid,
    isAnonymized: !stored.has_key || stored.erased_by !== null,
    timestamp,
    siteDomain,
  };
}

async function verifySealing(
  { db, onDamagedNodes, sealedRuns }: CheckOptions,
  stored: StoredRecord,
  record: ConsentRecord | null,
): Promise<Pick<Verification, 'merkleValid' | 'timestamp'>> {
  const evidence = await readSealedEvidence(db, stored.stream, stored.revision, stored.event_id);
  const batch = await checkBatch(db, { ...stored, type: CONSENT_RECORDED }, evidence, onDamagedNodes);
  // The ledger's events show what is sealed, even if the tables derived from them were altered.
  if (batch === null && record !== null && (await sealedRuns.contain(db, stored, record.created_at))) {
    return { merkleValid: false, timestamp: null };
  }
  if (batch === null || batch === false) return { merkleValid: batch, timestamp: null };
  const { checkpoint } = evidence;
  if (checkpoint === null) return { merkleValid: true, timestamp: null };
  if (!(await checkCheckpoint(db, checkpoint, batch))) return { merkleValid: false, timestamp: null };
  return { merkleValid: true, timestamp: { time: checkpoint.gen_time, checkpointSize: checkpoint.size } };
}

async function proofKeyOf(keyring: Keyring, keyId: string): Promise<ProofKey | null> {
  try {
    return await keyring.proofKeyById(keyId);
  } catch (error) {
    if (error instanceof KeyError && error.code === 'key_missing') return null;
    throw error;
  }
}

async function domainOf(db: Queryable, configHash: string): Promise<string | null> {
  const { rows } = await db.query({
    name: 'configuration by hash',
    text: 'select record from site_configs where sha256 = $1',
    values: [configHash],
  });
  const [row] = z.array(z.object({ record: z.string() })).parse(rows);
  if (row === undefined || sha256Hex(row.record) !== configHash) return null;
  return parseSiteConfig(row.record).domain;
}
