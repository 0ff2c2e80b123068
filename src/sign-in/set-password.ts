import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { z } from 'zod';
import { appendAuditEntry } from '../audit-log/append-entry.js';
import { CatalogueError } from '../catalogue/catalogue-error.js';
import type { ListedUser } from '../catalogue/list-users.js';
import type { SignedInUser } from '../catalogue/user-directory.js';
import { type Database, withTransaction } from '../database/pool.js';
import { endSignIns } from './end-sign-ins.js';
import { PASSWORD_RESET_SECONDS } from './lifetimes.js';
import { hashPassword, isPasswordOf } from './passwords.js';
import { newSecretToken, secretTokenDigest } from './secret-tokens.js';

const HashRows = z.array(z.object({ password_hash: z.string() }));
const IdRows = z.array(z.object({ id: z.string() }));
const ResetRows = z.array(z.object({ id: z.string(), user_id: z.string(), tenant_id: z.string() }));
const ExpiryRows = z.tuple([z.object({ expires_at: z.date() })]);

/**
 * Gives a signed-in user another password, and ends the user's other sign-ins.
 * @param pool in the role `consent_ledger_admin`
 * @returns how many ended; null if the current password is another one
 */
export async function changePassword(
  pool: pg.Pool,
  user: SignedInUser,
  currentPassword: string,
  newPassword: string,
): Promise<number | null> {
  const { rows } = await pool.query('select password_hash from users where id = $1', [user.id]);
  const [row] = HashRows.parse(rows);
  if (row === undefined || !(await isPasswordOf(row.password_hash, currentPassword))) return null;
  const passwordHash = await hashPassword(newPassword);
  return withTransaction(pool, async (client) => {
    // Only if it is still the one that was checked: of two changes at once one is made.
    const { rowCount } = await client.query(
      'update users set password_hash = $3 where id = $1 and password_hash = $2 and disabled_at is null',
      [user.id, row.password_hash, passwordHash],
    );
    if (rowCount !== 1) return null;
    await revokeResets(client, user.id);
    const ended = await endSignIns(client, user.id, { allBut: user.signInId }, 'password_changed');
    await appendAuditEntry(client, {
      tenantId: user.tenantId,
      actor: { kind: 'user', userId: user.id },
      action: 'user.change_password',
      subject: { kind: 'user', id: user.id },
      details: { ended_sign_ins: ended },
    });
    return ended;
  });
}

/**
 * Makes a token by which a user's password can be set once; an earlier one is void.
 * @throws CatalogueError `wrong_state` for a disabled user
 */
export function createPasswordReset(
  database: Database,
  user: Pick<ListedUser, 'id' | 'disabledAt'>,
): Promise<{ readonly token: string; readonly expiresAt: Date }> {
  if (user.disabledAt !== null) throw new CatalogueError('wrong_state', 'The user is disabled: enable the user first.');
  return withTransaction(database, async (client) => {
    await lockUser(client, user.id);
    await revokeResets(client, user.id);
    const { token, digest } = newSecretToken('password reset');
    const { rows } = await client.query(
      `insert into password_resets (id, user_id, token_digest, expires_at)
       values ($1, $2, $3, now() + make_interval(secs => $4)) returning expires_at`,
      [randomUUID(), user.id, digest, PASSWORD_RESET_SECONDS],
    );
    const [{ expires_at: expiresAt }] = ExpiryRows.parse(rows);
    return { token, expiresAt };
  });
}

/**
 * Sets a password with a reset token, and ends every sign-in of its user.
 * @param pool in the role `consent_ledger_admin`
 * @returns how many ended; null if the token is unknown, expired, used or revoked, or the user disabled
 */
export async function resetPassword(pool: pg.Pool, token: string, password: string): Promise<number | null> {
  const digest = secretTokenDigest('password reset', token);
  if (digest === null) return null;
  const open = `r.token_digest = $1 and r.used_at is null and r.revoked_at is null and r.expires_at > now()
    and u.id = r.user_id and u.disabled_at is null`;
  // Nobody makes the service hash passwords without a token that is good.
  const found = await pool.query(`select u.id from password_resets r, users u where ${open}`, [digest]);
  const [owner] = IdRows.parse(found.rows);
  if (owner === undefined) return null;
  const passwordHash = await hashPassword(password);
  return withTransaction(pool, async (client) => {
    await lockUser(client, owner.id);
    const { rows } = await client.query(
      `update password_resets r set used_at = now() from users u where ${open} returning r.id, r.user_id, u.tenant_id`,
      [digest],
    );
    const [reset] = ResetRows.parse(rows);
    if (reset === undefined) return null;
    const { user_id: userId, tenant_id: tenantId } = reset;
    await client.query('update users set password_hash = $2 where id = $1', [userId, passwordHash]);
    const ended = await endSignIns(client, userId, { all: true }, 'password_reset');
    await appendAuditEntry(client, {
      tenantId,
      actor: { kind: 'user', userId },
      action: 'user.reset_password',
      subject: { kind: 'user', id: userId },
      details: { ended_sign_ins: ended },
    });
    return ended;
  });
}

/** Whatever changes a password or its resets takes the user's row first. */
async function lockUser(client: pg.PoolClient, userId: string): Promise<void> {
  await client.query('select from users where id = $1 for no key update', [userId]);
}

async function revokeResets(client: pg.PoolClient, userId: string): Promise<void> {
  await client.query(
    'update password_resets set revoked_at = now() where user_id = $1 and used_at is null and revoked_at is null',
    [userId],
  );
}
