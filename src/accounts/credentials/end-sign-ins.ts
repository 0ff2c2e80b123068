import type { Queryable } from '../../platform/database/pool.js';

/** The reason why a sign-in ends before its expiry. */
export type EndReason =
  | 'signed_out'
  | 'ended_by_user'
  | 'password_changed'
  | 'password_reset'
  | 'user_disabled'
  | 'ended_by_admin'
  | 'ended_by_operator';

/** Selects sign-ins of a user. */
export type SignInChoice = { readonly all: true } | { readonly only: string } | { readonly allBut: string };

/**
 * Ends sign-ins of a user. Refresh tokens stop working immediately, access tokens within a second.
 * @param db a handle in a role that may UPDATE (ended_at, end_reason) `sign_ins`
 * @returns the number of ended sign-ins
 */
export async function endSignIns(
  db: Queryable,
  userId: string,
  choice: SignInChoice,
  reason: EndReason,
): Promise<number> {
  const only = 'only' in choice ? choice.only : null;
  const allBut = 'allBut' in choice ? choice.allBut : null;
  const { rowCount } = await db.query(
    `update sign_ins set ended_at = now(), end_reason = $4
      where user_id = $1 and ended_at is null and lapses_at > now()
        and ($2::uuid is null or id = $2) and ($3::uuid is null or id <> $3)`,
    [userId, only, allBut, reason],
  );
  return rowCount ?? 0;
}

/** Revokes the unused password-reset tokens of a user. */
export async function revokeResets(db: Queryable, userId: string): Promise<void> {
  await db.query(
    'update password_resets set revoked_at = now() where user_id = $1 and used_at is null and revoked_at is null',
    [userId],
  );
}
