import { appendAuditEntry } from '../../platform/audit-log.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { noticeTo } from '../mail/mail-job.js';
import type { User } from '../users/user-directory.js';
import { base32, newFactorSecret, newRecoveryCodes, otpauthUri, sealFactorSecret } from './factor-secrets.js';
import {
  type FactorOptions,
  isInForce,
  type PresentedFactor,
  readStoredFactor,
  useFactor,
  useTotpCode,
} from './prove-factor.js';

/** TOTP secret of a factor that is not confirmed yet, for the user's authenticator app. */
export interface BegunFactor {
  /** The secret in Base32. */
  readonly secret: string;
  readonly otpauthUri: string;
}

/** The second factor of a user as the user sees it. */
export interface ShownFactor {
  readonly enabledAt: Date | null;
  readonly recoveryCodesLeft: number;
}

/** Reads what a user may see of their second factor. */
export async function readSecondFactor({ db, keys }: FactorOptions, userId: string): Promise<ShownFactor> {
  const stored = await readStoredFactor(db, keys, userId, 'unlocked');
  return { enabledAt: stored?.confirmedAt ?? null, recoveryCodesLeft: stored?.recoveryDigests.length ?? 0 };
}

/**
 * Starts to enrol an authenticator app with a new secret. A user with a passkey proves possession of the second factor.
 * The secret takes effect once a code proves that the user has it, and replaces that of an unfinished enrolment.
 * @returns null if the second factor was not proved
 * @throws ChangeRefused `wrong_state` if the user has an app
 */
export function beginSecondFactor(
  options: FactorOptions,
  user: User,
  presented: PresentedFactor,
): Promise<BegunFactor | null> {
  return withTransaction(options.db, async (db) => {
    const stored = await readStoredFactor(db, options.keys, user.id, 'locked');
    if (stored === null || stored.confirmedAt !== null) {
      throw new ChangeRefused('wrong_state', 'The authenticator app is enabled. Disable it first.');
    }
    if (isInForce(stored) && !(await useFactor({ ...options, db }, user, stored, presented))) return null;
    const secret = newFactorSecret();
    const sealed = await sealFactorSecret(options.keys, user.id, secret);
    await db.query('update users set totp_secret = $2, totp_last_step = null where id = $1', [user.id, sealed]);
    const text = base32(secret).toUpperCase();
    return { secret: text, otpauthUri: otpauthUri(text, user.email) };
  });
}

/**
 * Activates an authenticator app, with an entry in the audit log. A passkey that was begun before it, without its code,
 * can no longer be added.
 * @returns ten recovery codes, which are not stored, or none if a passkey came with them; null if the code is wrong
 * @throws ChangeRefused `wrong_state` if no enrolment was started, or an app is already active
 */
export function confirmSecondFactor(
  options: FactorOptions,
  user: User,
  totpCode: string,
): Promise<{ readonly recoveryCodes: readonly string[] | null } | null> {
  return withTransaction(options.db, async (db) => {
    const stored = await readStoredFactor(db, options.keys, user.id, 'locked');
    if (stored === null || stored.sealedSecret === null || stored.confirmedAt !== null) {
      throw new ChangeRefused('wrong_state', 'No authenticator app waits for its confirmation. Begin one first.');
    }
    if (!(await useTotpCode({ ...options, db }, user, stored, totpCode))) return null;
    const made = isInForce(stored) ? null : await newRecoveryCodes(options.keys, user.id);
    await db.query(
      `update users set totp_confirmed_at = now(), passkey_challenge = null,
              recovery_digests = coalesce($2, recovery_digests) where id = $1`,
      [user.id, made?.digests ?? null],
    );
    await noteChange({ ...options, db }, user, 'user.enable_second_factor', 'second_factor_enabled');
    return { recoveryCodes: made?.codes ?? null };
  });
}

/**
 * Replaces the recovery codes of a user who proves possession of the second factor, with an entry in the audit log.
 * @returns ten recovery codes, which are not stored, or null if the proof is wrong, or there is no second factor
 */
export function renewRecoveryCodes(
  options: FactorOptions,
  user: User,
  presented: PresentedFactor,
): Promise<readonly string[] | null> {
  return withTransaction(options.db, async (db) => {
    const stored = await readStoredFactor(db, options.keys, user.id, 'locked');
    if (stored === null || !isInForce(stored)) return null;
    if (!(await useFactor({ ...options, db }, user, stored, presented))) return null;
    const { codes, digests } = await newRecoveryCodes(options.keys, user.id);
    await db.query('update users set recovery_digests = $2 where id = $1', [user.id, digests]);
    await noteChange({ ...options, db }, user, 'user.renew_recovery_codes', 'recovery_codes_renewed');
    return codes;
  });
}

/**
 * Removes the authenticator app of a user who proves possession of a second factor, with an entry in the audit log. The
 * recovery codes stay while there is a passkey.
 * @returns false if the proof is wrong, or there is no app
 */
export function disableSecondFactor(options: FactorOptions, user: User, presented: PresentedFactor): Promise<boolean> {
  return withTransaction(options.db, async (db) => {
    const stored = await readStoredFactor(db, options.keys, user.id, 'locked');
    if (stored === null || stored.confirmedAt === null) return false;
    if (!(await useFactor({ ...options, db }, user, stored, presented))) return false;
    await db.query(
      `update users set totp_secret = null, totp_confirmed_at = null, totp_last_step = null,
              recovery_digests = case when passkey_ids is null then '{}' else recovery_digests end where id = $1`,
      [user.id],
    );
    await noteChange({ ...options, db }, user, 'user.disable_second_factor', 'second_factor_disabled');
    return true;
  });
}

/**
 * Removes the app and the passkeys of a user, even those whose enrolment was not finished. The caller writes the entry in
 * the audit log.
 * @param db a handle in the role `consent_ledger_admin`
 * @returns whether a factor was active
 */
export async function removeSecondFactor(db: Queryable, userId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'select from users where id = $1 and (totp_confirmed_at is not null or passkey_ids is not null) for no key update',
    [userId],
  );
  await db.query('delete from passkeys where user_id = $1', [userId]);
  await db.query(
    `update users set totp_secret = null, totp_confirmed_at = null, totp_last_step = null, recovery_digests = '{}',
            passkey_ids = null, passkey_challenge = null
      where id = $1 and (totp_secret is not null or passkey_ids is not null or passkey_challenge is not null)`,
    [userId],
  );
  return rowCount === 1;
}

async function noteChange(
  { db, queueMail }: FactorOptions,
  { id, tenantId, email }: User,
  action: string,
  notice: 'second_factor_enabled' | 'second_factor_disabled' | 'recovery_codes_renewed',
): Promise<void> {
  await appendAuditEntry(db, {
    tenantId,
    actor: { kind: 'user', userId: id },
    action,
    subject: { kind: 'user', id },
    details: {},
  });
  await queueMail?.(db, noticeTo(email, notice));
}
