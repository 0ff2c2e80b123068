import * as z from 'zod';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import { CONSENT_RECORDED } from '../../../schemas/events/consent-recorded.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import type { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import { findProofKey, isProofHashOf, type Keyring } from '../../platform/keys/index.js';
import { checkBatch, checkCheckpoint, type OnDamagedNodes } from './check-batch.js';
import { isErasureReal } from './check-erasure.js';
import {
  type LoggedRecord,
  lacksRecord,
  loggedRecord,
  placeOf,
  readSealedEvents,
  type StatedPlace,
} from './logged-record.js';
import { readSealedEvidence } from './sealed-evidence.js';
import { SealedRuns } from './sealed-runs.js';
import {
  columnsAgree,
  erasureAgrees,
  findRecordPlace,
  type RecordIdentifier,
  readStoredRecord,
  type StoredRecord,
} from './stored-record.js';

/** The result of an integrity check. */
export interface Verification {
  readonly valid: boolean;
  /** The record in the event log, or null if the event is not a record. */
  readonly record: SealedConsent | null;
  readonly proofHash: string;
  readonly hashValid: boolean;
  /** Null while the record is in no batch. */
  readonly merkleValid: boolean | null;
  readonly isAnonymized: boolean;
  /**
   * The earliest time stamp that covers the record, or null if there is none, or if a check of it fails.
   */
  readonly timestamp: { readonly time: Date; readonly checkpointSize: number } | null;
  /**
   * The domain in the configuration whose hash the record contains, or null if the configuration is missing or altered.
   */
  readonly siteDomain: string | null;
  /** Where that configuration says that the choice can be changed, or null if it does not. */
  readonly withdrawalUrl: string | null;
}

/**
 * Checks stored records (docs/http-api.md, “What verify checks”). Every value in the result comes
 * from bytes that this check has hashed, and all copies must agree.
 */
export interface Verifier {
  /**
   * Checks one record.
   * @param tenantId limits the search to the records of this tenant; null permits all tenants
   * @returns null for an unknown record
   * @throws LogDiverged if the log has no event at the record's place
   * @throws EventLogUnavailable, KeyError, database errors
   */
  verify(identifier: RecordIdentifier, tenantId: string | null): Promise<Verification | null>;
}

export interface VerifierOptions {
  /** A handle in the role `consent_ledger_api`. */
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
    verify: async (identifier, tenantId) => {
      const place = await findRecordPlace(options.db, identifier, tenantId);
      if (place === null) return null;
      // Read before the transaction, so that a log that hangs does not hold a database connection.
      const logged = await recordInLog(options, place);
      return withTransaction(
        options.db,
        async (db) => {
          const stored = await readStoredRecord(db, place.event_id, tenantId);
          return stored === null ? null : verifyStored({ ...options, db, sealedRuns }, stored, logged);
        },
        { isolation: 'repeatable read' },
      );
    },
  };
}

async function verifyStored(
  options: CheckOptions,
  stored: StoredRecord,
  logged: LoggedRecord | null,
): Promise<Verification> {
  const { db, keyring } = options;
  const record = logged?.record ?? null;
  const key = record === null ? null : await findProofKey(keyring, record.proof_key_id);
  const hashValid = logged !== null && key !== null && isProofHashOf(logged.text, stored.proof_hash, key.key);
  const isOwners = key !== null && key.tenantId === stored.tenant_id;
  const isCopyExact =
    logged !== null && record !== null && logged.proofHash === stored.proof_hash && columnsAgree(stored, record);
  const isErasureSound = erasureAgrees(stored) && (await isErasureReal(options, stored));
  const { merkleValid, timestamp } = await verifySealing(options, stored, logged);
  const site = record === null ? null : await siteOf(db, record.site_config_hash);
  return {
    valid: hashValid && isOwners && isCopyExact && isErasureSound && merkleValid !== false && site !== null,
    record,
    proofHash: stored.proof_hash,
    hashValid,
    merkleValid,
    isAnonymized: !stored.has_key || stored.erased_by !== null,
    timestamp,
    siteDomain: site?.domain ?? null,
    withdrawalUrl: site?.withdrawal_url ?? null,
  };
}

/**
 * Reads the record from the log at the position that its row states. If that position has no event or another one, and
 * the record is sealed at a different position, it is read from there. The row was then altered, and its position will
 * not match the one in the batch.
 * @returns null if the row or the event was altered
 * @throws LogDiverged if the log has no event at the stated position, and the record is nowhere else
 */
async function recordInLog(
  { db, eventLog }: Pick<VerifierOptions, 'db' | 'eventLog'>,
  place: StatedPlace,
): Promise<LoggedRecord | null> {
  const [stated = null] = await eventLog.readEvents([placeOf(place)]);
  if (stated?.id === place.event_id) return loggedRecord(stated);
  const sealed = (await readSealedEvents(db, eventLog, [place.event_id])).get(place.event_id);
  if (sealed !== undefined) return loggedRecord(sealed);
  if (stated === null) throw lacksRecord(place);
  return null;
}

async function verifySealing(
  { db, onDamagedNodes, sealedRuns }: CheckOptions,
  stored: StoredRecord,
  logged: LoggedRecord | null,
): Promise<Pick<Verification, 'merkleValid' | 'timestamp'>> {
  const place = placeOf(stored);
  const evidence = await readSealedEvidence(db, place, stored.event_id);
  const entry = {
    ...place,
    event_id: stored.event_id,
    type: logged?.type ?? CONSENT_RECORDED,
    record: logged?.text ?? '',
    proof_hash: stored.proof_hash,
  };
  const batch = await checkBatch(db, entry, evidence, onDamagedNodes);
  // The ledger's events show what was sealed, even if the tables derived from them were altered.
  const record = logged?.record ?? null;
  if (batch === null && record !== null && (await sealedRuns.contain(db, place, record.created_at))) {
    return { merkleValid: false, timestamp: null };
  }
  if (batch === null || batch === false) return { merkleValid: batch, timestamp: null };
  const { checkpoint } = evidence;
  if (checkpoint === null) return { merkleValid: true, timestamp: null };
  if (!(await checkCheckpoint(db, checkpoint, batch))) return { merkleValid: false, timestamp: null };
  return { merkleValid: true, timestamp: { time: checkpoint.gen_time, checkpointSize: checkpoint.size } };
}

async function siteOf(db: Queryable, configHash: string): Promise<SiteConfigPublishedRecord | null> {
  const { rows } = await db.query({
    name: 'configuration by hash',
    text: 'select record from site_configs where sha256 = $1',
    values: [configHash],
  });
  const [row] = z.array(z.object({ record: z.string() })).parse(rows);
  if (row === undefined || sha256Hex(row.record) !== configHash) return null;
  return parseSiteConfig(row.record);
}
