import { randomUUID } from 'node:crypto';
import { appendAuditEntry } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import { IDLE_SECONDS, SIGN_IN_SECONDS } from '../credentials/lifetimes.js';
import { newSecretToken } from '../credentials/secret-tokens.js';
import { noticeTo } from '../mail/mail-job.js';
import type { QueueMail } from '../mail/mail-queue.js';
import type { User } from '../users/user-directory.js';

/** A sign-in, and the refresh token that renews it. */
export interface StartedSignIn {
  readonly signInId: string;
  readonly refreshToken: string;
}

/**
 * Starts a sign-in, with an audit entry.
 *
 * It locks the user's row. A concurrent change that disables the user or changes the password
 * therefore either ends this sign-in or prevents it.
 * @param db a transaction in a role that may UPDATE (last_sign_in_at) `users`, and INSERT into
 *   `sign_ins` and `audit_log`
 * @param passwordHash the verified hash
 * @param queueMail tells the user, unless the user is a backend; null: no mail
 * @returns null if the user was disabled or the password changed meanwhile
 */
export async function startSignIn(
  db: Queryable,
  user: User,
  passwordHash: string,
  queueMail: QueueMail | null,
): Promise<StartedSignIn | null> {
  const signInId = randomUUID();
  const { token, digest } = newSecretToken('refresh');
  const { rowCount } = await db.query(
    `with signing_in as (
       update users set last_sign_in_at = now() where id = $1 and password_hash = $2 and disabled_at is null returning id)
     insert into sign_ins (id, user_id, refresh_digest, expires_at, lapses_at)
       select $3, id, $4, now() + make_interval(secs => $5), now() + make_interval(secs => $6) from signing_in`,
    [user.id, passwordHash, signInId, digest, SIGN_IN_SECONDS, IDLE_SECONDS],
  );
  if (rowCount !== 1) return null;
  await appendAuditEntry(db, {
    tenantId: user.tenantId,
    actor: { kind: 'user', userId: user.id },
    action: 'sign_in.start',
    subject: { kind: 'sign_in', id: signInId },
    details: {},
  });
  if (user.role !== 'api_user') await queueMail?.(db, noticeTo(user.email, 'signed_in'));
  return { signInId, refreshToken: token };
}
