import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { type RowSeals, readSealed, sealed, sealedRow } from '../../platform/keys/index.js';
import {
  hashPassword,
  isPasswordOf,
  newSecretToken,
  PASSWORD_RESET_SECONDS,
  refuseOwnAddress,
  secretTokenDigest,
} from '../credentials/credentials.js';
import { endSignIns, revokeResets } from '../credentials/end-sign-ins.js';
import { noticeTo } from '../mail/mail-job.js';
import type { QueueMail } from '../mail/mail-queue.js';
import type { ListedUser } from '../users/list-users.js';
import { type SignedInUser, UserRow } from '../users/user-directory.js';
import { isGrantInForce, lockUsersOf } from '../users/users.js';

const PasskeyIds = z
  .array(z.string())
  .nullable()
  .transform((ids) => ids?.length ?? 0);
const HashRow = z.object({ password_hash: z.string(), passkey_ids: PasskeyIds });
const ResetUser = z
  .looseObject({ passkey_ids: PasskeyIds })
  .transform((row) => ({ ...UserRow.parse(row), passkeys: row.passkey_ids }));
const ResetRows = z.array(
  z.object({ reset: sealedRow('password_resets'), user: sealedRow('users'), maker: sealedRow('users').nullable() }),
);
const Reset = z.object({ id: z.string(), made_by: z.string().nullable() });
interface OpenReset {
  readonly id: string;
  readonly user: z.infer<typeof ResetUser>;
}
const ExpiryRows = z.tuple([z.object({ expires_at: z.date() })]);

/**
 * Changes the password of a signed-in user, and ends the user's other sign-ins.
 * @param db a handle in the role `consent_ledger_admin`
 * @param queueMail queues the mail that tells the user; null if the service sends no mail
 * @returns the number of ended sign-ins, or null if the current password is wrong or was changed meanwhile
 * @throws RequestRefused VALIDATION_ERROR if the new password is the user's address
 */
export async function changePassword(
  db: Queryable,
  seals: RowSeals,
  user: SignedInUser,
  currentPassword: string,
  newPassword: string,
  queueMail: QueueMail | null,
): Promise<number | null> {
  const row = await readSealed(db, seals, { table: 'users', where: 'id = $1', values: [user.id] }, HashRow);
  if (row === null || !(await isPasswordOf(row.password_hash, currentPassword))) return null;
  refuseOwnAddress(newPassword, user.email, 'new_password');
  const passwordHash = await hashPassword(newPassword);
  return withTransaction(db, async (db) => {
    // The condition on the verified hash lets only one of two concurrent changes succeed.
    const { rowCount } = await db.query(
      `update users set password_hash = $3, passkey_challenge = null
        where id = $1 and password_hash = $2 and disabled_at is null`,
      [user.id, row.password_hash, passwordHash],
    );
    if (rowCount !== 1) return null;
    await revokeResets(db, user.id);
    const ended = await endSignIns(db, user.id, { allBut: user.signInId }, 'password_changed');
    await appendAuditEntry(db, {
      tenantId: user.tenantId,
      actor: { kind: 'user', userId: user.id },
      action: 'user.change_password',
      subject: { kind: 'user', id: user.id },
      details: { ended_sign_ins: ended },
    });
    await queueMail?.(db, noticeTo(user.email, 'password_changed', row.passkey_ids));
    return ended;
  });
}

/**
 * Creates a token that sets a user's password once; earlier tokens are revoked.
 * @param madeBy the creating user, who must still have the right when the token is used, or null for operators
 * @throws ChangeRefused `wrong_state` for a disabled user
 */
export function createPasswordReset(
  db: Queryable,
  user: Pick<ListedUser, 'id' | 'disabledAt'>,
  madeBy: string | null,
): Promise<{ readonly token: string; readonly expiresAt: Date }> {
  if (user.disabledAt !== null) throw new ChangeRefused('wrong_state', 'The user is disabled. Enable the user first.');
  return withTransaction(db, async (db) => {
    await lockUser(db, user.id);
    await revokeResets(db, user.id);
    const { token, digest } = newSecretToken('password reset');
    const { rows } = await db.query(
      `insert into password_resets (id, user_id, made_by, token_digest, expires_at)
       values ($1, $2, $3, $4, now() + make_interval(secs => $5)) returning expires_at`,
      [randomUUID(), user.id, madeBy, digest, PASSWORD_RESET_SECONDS],
    );
    const [{ expires_at: expiresAt }] = ExpiryRows.parse(rows);
    return { token, expiresAt };
  });
}

/**
 * Sets a password with a reset token, and ends every sign-in of its user. The token must be valid,
 * its user enabled, and its creator still entitled.
 * @param db a handle in the role `consent_ledger_admin`
 * @param queueMail queues the mail that tells the user; null if the service sends no mail
 * @returns the number of ended sign-ins, or null if one of these conditions fails
 * @throws RequestRefused VALIDATION_ERROR if the password is the user's address
 */
export async function resetPassword(
  db: Queryable,
  seals: RowSeals,
  token: string,
  password: string,
  queueMail: QueueMail | null,
): Promise<number | null> {
  const digest = secretTokenDigest('password reset', token);
  if (digest === null) return null;
  // The token is checked before the expensive hash: otherwise a client without a valid token could
  // exhaust the CPU.
  const found = await openReset(db, seals, digest);
  if (found === null) return null;
  const { id: userId, tenantId, email } = found.user;
  refuseOwnAddress(password, email, 'password');
  const passwordHash = await hashPassword(password);
  return withTransaction(db, async (db) => {
    await lockUsersOf(db, tenantId);
    await lockUser(db, userId);
    const reset = await openReset(db, seals, digest);
    if (reset === null) return null;
    await db.query('update password_resets set used_at = now() where id = $1', [reset.id]);
    await db.query('update users set password_hash = $2, passkey_challenge = null where id = $1', [
      userId,
      passwordHash,
    ]);
    const ended = await endSignIns(db, userId, { all: true }, 'password_reset');
    await appendAuditEntry(db, {
      tenantId,
      actor: { kind: 'user', userId },
      action: 'user.reset_password',
      subject: { kind: 'user', id: userId },
      details: { ended_sign_ins: ended },
    });
    await queueMail?.(db, noticeTo(reset.user.email, 'password_changed', reset.user.passkeys));
    return ended;
  });
}

const OPEN_RESET = `select ${sealed('password_resets', 'r')} as reset, ${sealed('users', 'u')} as "user", ${sealed('users', 'm')} as maker
  from password_resets r join users u on u.id = r.user_id left join users m on m.id = r.made_by and m.disabled_at is null
  where r.token_digest = $1 and r.used_at is null and r.revoked_at is null and r.expires_at > now() and u.disabled_at is null`;

/** Reads an open reset. One whose own row, or whose user's or creator's row, was altered counts as not open. */
async function openReset(db: Queryable, seals: RowSeals, digest: Buffer): Promise<OpenReset | null> {
  const { rows } = await db.query(OPEN_RESET, [digest]);
  const [row] = ResetRows.parse(rows);
  if (row === undefined) return null;
  const reset = await seals.open(row.reset, Reset);
  const user = await seals.open(row.user, ResetUser);
  if (reset === null || user === null) return null;
  return (await isGrantInForce(seals, reset.made_by, row.maker, user.role)) ? { id: reset.id, user } : null;
}

/** Locks the user's row. Every change of a password or its resets does this first. */
async function lockUser(db: Queryable, userId: string): Promise<void> {
  await db.query('select from users where id = $1 for no key update', [userId]);
}

/** Shortest time between two tokens for one address, so that it cannot be flooded with mails. */
const PAUSE_SECONDS = 15 * 60;

const UserRows = z.array(z.object({ user: sealedRow('users'), has_recent: z.boolean() }));

/**
 * Mails a password-reset token to a user who asked for it. Nothing happens if the address has no enabled user, if the
 * row was altered, or within 15 minutes of the last token.
 * @param db a transaction in the role `consent_ledger_admin`
 */
export async function mailRequestedReset(
  db: Queryable,
  seals: RowSeals,
  queueMail: QueueMail | null,
  email: string,
): Promise<void> {
  const { rows } = await db.query(
    `select ${sealed('users', 'u')} as "user",
            exists (select from password_resets r where r.user_id = u.id and r.created_at > now() - make_interval(secs => $2)) as has_recent
       from users u where u.email = $1 and u.disabled_at is null`,
    [email.toLowerCase(), PAUSE_SECONDS],
  );
  const [row] = UserRows.parse(rows);
  const user = row === undefined || row.has_recent ? null : await seals.open(row.user, UserRow);
  if (user === null) return;
  const { token, expiresAt } = await createPasswordReset(db, { id: user.id, disabledAt: null }, null);
  await queueMail?.(db, { kind: 'password_reset', to: user.email, token, expires_at: expiresAt.toISOString() });
  await appendAuditEntry(db, {
    tenantId: user.tenantId,
    actor: { kind: 'service' },
    action: 'user.create_password_reset',
    subject: { kind: 'user', id: user.id },
    details: { reason: 'requested_by_mail' },
  });
}
