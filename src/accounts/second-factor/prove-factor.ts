import * as z from 'zod';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { type RowSeals, readSealed, SealedBytes, SealedTime } from '../../platform/keys/index.js';
import { noticeTo } from '../mail/mail-job.js';
import type { QueueMail } from '../mail/mail-queue.js';
import type { User } from '../users/user-directory.js';
import { type FactorKeys, openFactorSecret, recoveryDigest, stepOfCode } from './factor-secrets.js';

/** Stored state of a user's second factor. */
interface StoredFactor {
  /** Encrypted, or null if there is no factor and no enrolment. */
  readonly sealedSecret: Uint8Array | null;
  /** Null until the user has proved possession of the secret. Until then no code is required. */
  readonly confirmedAt: Date | null;
  /** Time step of the last code that was used. */
  readonly lastStep: number | null;
  /** Digests of the recovery codes that were not used. */
  readonly recoveryDigests: readonly string[];
}

const Columns = z.object({
  totp_secret: SealedBytes.nullable(),
  totp_confirmed_at: SealedTime.nullable(),
  totp_last_step: z.int().nullable(),
  recovery_digests: z.array(z.string()),
});

/**
 * Reads the second factor of an enabled user.
 * @param lock whether the row stays locked until the end of the transaction
 * @returns null if there is no such user, or the row was altered
 */
export async function readStoredFactor(
  db: Queryable,
  seals: RowSeals,
  userId: string,
  lock: 'locked' | 'unlocked',
): Promise<StoredFactor | null> {
  const where = `id = $1 and disabled_at is null ${lock === 'locked' ? 'for no key update' : ''}`;
  const row = await readSealed(db, seals, { table: 'users', where, values: [userId] }, Columns);
  if (row === null) return null;
  return {
    sealedSecret: row.totp_secret,
    confirmedAt: row.totp_confirmed_at,
    lastStep: row.totp_last_step,
    recoveryDigests: row.recovery_digests,
  };
}

/** Second factor that a user presents with the password. */
export interface PresentedFactor {
  readonly totpCode?: string | undefined;
  readonly recoveryCode?: string | undefined;
}

/** Dependencies of the second factor. */
export interface FactorOptions {
  /** Connections in the role `consent_ledger_admin`. */
  readonly db: Queryable;
  readonly keys: FactorKeys;
  /** Queues the mail that tells the user; null if the service sends no mail. */
  readonly queueMail: QueueMail | null;
  /** @returns Unix time in seconds */
  readonly nowSeconds: () => number;
}

/**
 * Returns whether a user must present a second factor. If the row was altered, the answer is yes and no code is
 * accepted.
 */
export async function hasSecondFactor({ db, keys }: FactorOptions, userId: string): Promise<boolean> {
  const stored = await readStoredFactor(db, keys, userId, 'unlocked');
  return stored === null || stored.confirmedAt !== null;
}

/**
 * Checks a code and uses it up: codes of the app and recovery codes are valid once. The row is locked, so that only one
 * of several concurrent uses succeeds. The use of a recovery code is entered in the audit log.
 * @returns false if the code is wrong or was used, or none was presented
 */
export function proveSecondFactor(options: FactorOptions, user: User, presented: PresentedFactor): Promise<boolean> {
  return withTransaction(options.db, async (db) => {
    const stored = await readStoredFactor(db, options.keys, user.id, 'locked');
    if (stored === null || stored.confirmedAt === null) return false;
    return useCode({ ...options, db }, user, stored, presented);
  });
}

/** Checks and uses up a code against a row that this transaction has locked. */
export async function useCode(
  options: FactorOptions,
  user: User,
  stored: StoredFactor,
  { totpCode, recoveryCode }: PresentedFactor,
): Promise<boolean> {
  if (totpCode !== undefined) return useTotpCode(options, user, stored, totpCode);
  return recoveryCode !== undefined && useRecoveryCode(options, user, stored, recoveryCode);
}

async function useTotpCode(
  { db, keys, nowSeconds }: FactorOptions,
  { id }: User,
  { sealedSecret, lastStep }: StoredFactor,
  code: string,
): Promise<boolean> {
  if (sealedSecret === null) return false;
  const step = stepOfCode(await openFactorSecret(keys, id, sealedSecret), code, nowSeconds(), lastStep);
  if (step === null) return false;
  await db.query('update users set totp_last_step = $2 where id = $1', [id, step]);
  return true;
}

async function useRecoveryCode(
  { db, keys, queueMail }: FactorOptions,
  { id, tenantId, email }: User,
  { recoveryDigests }: StoredFactor,
  code: string,
): Promise<boolean> {
  const digest = await recoveryDigest(keys, id, code);
  if (!recoveryDigests.includes(digest)) return false;
  await db.query('update users set recovery_digests = array_remove(recovery_digests, $2) where id = $1', [id, digest]);
  await appendAuditEntry(db, {
    tenantId,
    actor: { kind: 'user', userId: id },
    action: 'user.use_recovery_code',
    subject: { kind: 'user', id },
    details: { left: recoveryDigests.length - 1 },
  });
  await queueMail?.(db, noticeTo(email, 'recovery_code_used'));
  return true;
}
