import { randomUUID } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { z } from 'zod';
import type { Database } from '../database/pool.js';
import { CatalogueError } from './catalogue-error.js';
import { isUniqueViolation } from './change-site.js';
import { ROLES, type User } from './user-directory.js';

/** Argon2id as OWASP's password storage cheat sheet recommends: 19 MiB, two passes, one lane. */
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export const NewUser = z.object({
  tenantId: z.uuid(),
  email: z.email().max(320).toLowerCase(),
  password: z.string().min(12).max(200),
  role: z.enum(ROLES),
});
export type NewUser = z.input<typeof NewUser>;

/**
 * Makes a user of a tenant.
 * @throws CatalogueError `invalid`, `already_exists`
 */
export async function createUser(database: Database, user: NewUser): Promise<{ readonly id: string }> {
  const checked = NewUser.safeParse(user);
  if (!checked.success) throw new CatalogueError('invalid', z.prettifyError(checked.error));
  const { tenantId, email, password, role } = checked.data;
  const id = randomUUID();
  try {
    await database.query('insert into users (id, tenant_id, email, password_hash, role) values ($1, $2, $3, $4, $5)', [
      id,
      tenantId,
      email,
      await hash(password, ARGON2ID),
      role,
    ]);
  } catch (error) {
    if (isUniqueViolation(error)) throw new CatalogueError('already_exists', `There is a user ${email} already.`);
    throw error;
  }
  return { id };
}

const CredentialsRow = z.object({
  id: z.string(),
  tenant_id: z.string(),
  email: z.string(),
  role: z.enum(ROLES),
  password_hash: z.string(),
});

/** Checks an e-mail address and a password. @returns null if they do not fit; an unknown address takes as long as a wrong password */
export type CheckPassword = (email: string, password: string) => Promise<User | null>;

/** @param database may SELECT `users` */
export function createPasswordCheck(database: Database): CheckPassword {
  // Of a password that nobody knows: what an unknown address is checked against.
  const decoy = hash(randomUUID(), ARGON2ID);
  return async (email, password) => {
    const { rows } = await database.query(
      'select id, tenant_id, email, role, password_hash from users where email = $1 and disabled_at is null',
      [email.toLowerCase()],
    );
    const [row] = z.array(CredentialsRow).parse(rows);
    const isRight = await verify(row?.password_hash ?? (await decoy), password);
    if (row === undefined || !isRight) return null;
    return { id: row.id, tenantId: row.tenant_id, email: row.email, role: row.role };
  };
}
