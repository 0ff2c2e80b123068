import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { UserRole } from '../../../schemas/api/auth.js';
import { NewPassword } from '../../../schemas/api/new-password.js';
import { Uuid } from '../../../schemas/evidence/primitives.js';
import { isUniqueViolation } from '../../platform/database/errors.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';
import { hashPassword } from '../credentials/passwords.js';
import type { User } from './user-directory.js';

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
 * @param db a transaction, at whose end the row is sealed
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
