import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { UserRole } from '../../../schemas/api/auth.js';
import { NewPassword } from '../../../schemas/api/new-password.js';
import { Uuid } from '../../../schemas/evidence/primitives.js';
import { isUniqueViolation } from '../../platform/database/errors.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';
import type { RowSeals, SealedRow } from '../../platform/keys/index.js';
import { hashPassword } from '../credentials/credentials.js';
import type { Role, User } from './user-directory.js';

export const NewUser = z.object({
  tenantId: Uuid,
  email: z.email().max(320).toLowerCase(),
  password: NewPassword,
  role: UserRole,
});
export type NewUser = z.input<typeof NewUser>;

/**
 * Creates a user of a tenant.
 * @throws ChangeRefused `invalid`, `already_exists`
 */
export async function createUser(db: Queryable, user: NewUser): Promise<{ readonly id: string }> {
  const { password, ...rest } = accepted(NewUser, user);
  const passwordHash = await hashPassword(password);
  return withTransaction(db, (db) => insertUser(db, rest, passwordHash));
}

/**
 * Creates a user with a hashed password. Hashing before the transaction keeps the transaction
 * short.
 * @param db a transaction; the row is sealed at its end
 * @throws ChangeRefused `already_exists`
 */
export async function insertUser(
  db: Queryable,
  { tenantId, email, role }: Omit<User, 'id'>,
  passwordHash: string,
): Promise<{ readonly id: string }> {
  const id = randomUUID();
  try {
    await db.query('insert into users (id, tenant_id, email, password_hash, role) values ($1, $2, $3, $4, $5)', [
      id,
      tenantId,
      email,
      passwordHash,
      role,
    ]);
  } catch (error) {
    if (isUniqueViolation(error))
      throw new ChangeRefused('already_exists', `A user with the e-mail address ${email} already exists.`);
    throw error;
  }
  return { id };
}

/**
 * Locks a tenant's users until the transaction ends. Every transaction that changes a user's rights
 * or depends on them takes this lock first. Rights that are read afterwards are therefore valid
 * until the end.
 * @param db a handle in a transaction, in the role `consent_ledger_admin`
 */
export async function lockUsersOf(db: Queryable, tenantId: string): Promise<void> {
  await db.query('select from tenants where id = $1 for no key update', [tenantId]);
}

/**
 * Returns whether a user with one role may grant another role and manage its users. Only owners may grant roles with
 * access to personal data (`owner`, `dpo`, and `api_user` through the S2S API). Otherwise an admin could obtain that
 * access.
 */
export function mayGrant(by: Role, role: Role): boolean {
  if (by === 'owner') return true;
  return by === 'admin' && (role === 'admin' || role === 'viewer');
}

const Grantor = z.object({ role: UserRole });

/**
 * Returns whether the grantor of a right may still grant it: an operator always, a user only if their current role
 * permits it and their row is unaltered.
 * @param grantedBy identifier of the user, or null for an operator
 * @param grantor the row of the user, read by the same statement as the row of the right. With two statements, an
 *   attacker who can write to the database could show each of them a different row. Null if the user is disabled.
 */
export async function isGrantInForce(
  seals: RowSeals,
  grantedBy: string | null,
  grantor: SealedRow<'users'> | null,
  role: Role,
): Promise<boolean> {
  if (grantedBy === null) return true;
  const user = grantor && (await seals.open(grantor, Grantor));
  return user !== null && mayGrant(user.role, role);
}
