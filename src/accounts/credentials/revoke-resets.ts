import type { Queryable } from '../../platform/database/pool.js';

/** Revokes the unused password-reset tokens of a user. */
export async function revokeResets(db: Queryable, userId: string): Promise<void> {
  await db.query(
    'update password_resets set revoked_at = now() where user_id = $1 and used_at is null and revoked_at is null',
    [userId],
  );
}
