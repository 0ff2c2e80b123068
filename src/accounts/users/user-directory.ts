import * as z from 'zod';
import { UserRole } from '../../../schemas/api/auth.js';
import { createFreshCache } from '../../platform/caches.js';
import type { Queryable } from '../../platform/database/pool.js';
import { type RowSeals, sealed, sealedRow } from '../../platform/keys/index.js';

export const ROLES = UserRole.options;
export type Role = UserRole;

export interface User {
  readonly id: string;
  readonly tenantId: string;
  readonly email: string;
  readonly role: Role;
}

/** A user, and the sign-in of the request. */
export interface SignedInUser extends User {
  readonly signInId: string;
}

/**
 * Users by sign-in, cached for at most one second. A disabled user, a sign-out or a new role takes
 * effect in every process within that time.
 */
export interface UserDirectory {
  /**
   * Finds the user of a sign-in.
   * @returns null for an unknown or ended sign-in, and for a disabled user
   */
  bySignIn(signInId: string): Promise<SignedInUser | null>;
}

export const UserRow = z
  .object({ id: z.string(), tenant_id: z.string(), email: z.string(), role: UserRole })
  .transform(({ id, tenant_id, email, role }): User => ({ id, tenantId: tenant_id, email, role }));

const SignedInRow = z.object({ sign_in: sealedRow('sign_ins'), user: sealedRow('users'), is_in_force: z.boolean() });

const MAX_AGE_MS = 1000;
const MAX_USERS = 10_000;

/**
 * Creates the directory.
 * @param db a handle that may SELECT `users` and `sign_ins`
 * @param now clock in milliseconds
 */
export function createUserDirectory(
  db: Queryable,
  seals: RowSeals,
  now: () => number = () => performance.now(),
): UserDirectory {
  const users = createFreshCache<string, SignedInUser | null>({
    maxAgeMs: MAX_AGE_MS,
    maxEntries: MAX_USERS,
    now,
    load: (signInId) => readSignedInUser(db, seals, signInId),
  });
  return { bySignIn: (signInId) => users.get(signInId) };
}

/**
 * Reads the current user of a sign-in, without the cache.
 * @param db a handle that may SELECT `users` and `sign_ins`
 * @returns null for an unknown or ended sign-in, for a disabled user, and if a row was altered
 */
export async function readSignedInUser(db: Queryable, seals: RowSeals, signInId: string): Promise<SignedInUser | null> {
  const { rows } = await db.query({
    name: 'user_by_sign_in',
    text: `select ${sealed('sign_ins', 's')} as sign_in, ${sealed('users', 'u')} as "user",
                  s.ended_at is null and s.lapses_at > now() and u.disabled_at is null as is_in_force
             from sign_ins s join users u on u.id = s.user_id where s.id = $1`,
    values: [signInId],
  });
  const [row] = z.array(SignedInRow).parse(rows);
  if (row === undefined || (await seals.open(row.sign_in, z.object({}))) === null || !row.is_in_force) return null;
  const user = await seals.open(row.user, UserRow);
  return user && { ...user, signInId };
}
