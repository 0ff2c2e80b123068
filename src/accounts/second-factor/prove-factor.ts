import * as z from 'zod';
import type { PasskeyAssertion } from '../../../schemas/api/passkeys.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { type RowSeals, readSealed, SealedBytes, SealedTime } from '../../platform/keys/index.js';
import { noticeTo } from '../mail/mail-job.js';
import type { QueueMail } from '../mail/mail-queue.js';
import { type PasskeyOptions, usePasskey } from '../passkeys/use-passkey.js';
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
  /** Passkeys of the user. If one of their rows is missing, it still counts. */
  readonly passkeyIds: readonly string[];
  /** Challenge that a new passkey has to sign, or null. */
  readonly passkeyChallenge: string | null;
}

/** Returns whether a sign-in with the password requires a second factor. */
export function isInForce({ confirmedAt, passkeyIds }: StoredFactor): boolean {
  return confirmedAt !== null || passkeyIds.length > 0;
}

const Columns = z.object({
  totp_secret: SealedBytes.nullable(),
  totp_confirmed_at: SealedTime.nullable(),
  totp_last_step: z.int().nullable(),
  recovery_digests: z.array(z.string()),
  passkey_ids: z.array(z.string()).nullable(),
  passkey_challenge: z.string().nullable(),
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
    passkeyIds: row.passkey_ids ?? [],
    passkeyChallenge: row.passkey_challenge,
  };
}

/** Second factor that a user presents with the password. */
export interface PresentedFactor {
  readonly totpCode?: string | undefined;
  readonly recoveryCode?: string | undefined;
  readonly passkey?: PasskeyAssertion | undefined;
}

/** Dependencies of the second factor. */
export interface FactorOptions extends PasskeyOptions {
  readonly keys: FactorKeys;
  /** Queues the mail that tells the user; null if the service sends no mail. */
  readonly queueMail: QueueMail | null;
}

/**
 * Returns whether a user must present a second factor. If the row was altered, the answer is yes and no code is
 * accepted.
 */
export async function hasSecondFactor({ db, keys }: FactorOptions, userId: string): Promise<boolean> {
  const stored = await readStoredFactor(db, keys, userId, 'unlocked');
  return stored === null || isInForce(stored);
}

/**
 * Checks a second factor and uses it up: codes of the app, recovery codes and challenges of passkeys are valid once. The
 * row is locked, so that only one of several concurrent uses succeeds. The use of a recovery code or a passkey is
 * entered in the audit log.
 * @returns false if it is wrong or was used, or none was presented
 */
export function proveSecondFactor(options: FactorOptions, user: User, presented: PresentedFactor): Promise<boolean> {
  return withTransaction(options.db, async (db) => {
    const stored = await readStoredFactor(db, options.keys, user.id, 'locked');
    if (stored === null || !isInForce(stored)) return false;
    return useFactor({ ...options, db }, user, stored, presented);
  });
}

/** Checks and uses up a second factor that is in force, against a row that this transaction has locked. */
export async function useFactor(
  options: FactorOptions,
  user: User,
  stored: StoredFactor,
  { totpCode, recoveryCode, passkey }: PresentedFactor,
): Promise<boolean> {
  if (totpCode !== undefined) return stored.confirmedAt !== null && useTotpCode(options, user, stored, totpCode);
  if (passkey !== undefined)
    return (await usePasskey(options, user, stored.passkeyIds, passkey, 'second_factor')) !== null;
  return recoveryCode !== undefined && useRecoveryCode(options, user, stored, recoveryCode);
}

/** Checks and uses up a code of the secret, even if it is not confirmed. @returns false if it is wrong or was used */
export async function useTotpCode(
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
