import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { z } from 'zod';
import { hashPassword, isOutdatedHash, isPasswordOf } from '../credentials/passwords.js';
import { type User, UserRow } from '../users/user-directory.js';

/** A user whose password was right. */
export interface CheckedUser {
  readonly user: User;
  /** Which password that was: a sign-in begins only if it is still the user's when it is written. */
  readonly passwordHash: string;
}

/** Checks an e-mail address and a password. @returns null if they do not fit; an unknown address takes as long as a wrong password */
export type CheckPassword = (email: string, password: string) => Promise<CheckedUser | null>;

export interface PasswordCheckPools {
  /** May SELECT `users`. */
  readonly apiPool: pg.Pool;
  /** May UPDATE `users`: a hash with parameters of former times is replaced when its password is there. */
  readonly adminPool: pg.Pool;
}

const HashRow = z.object({ password_hash: z.string() });

/** Makes the check of passwords, which also renews hashes with outdated parameters. The check throws errors of the database. */
export function createPasswordCheck({ apiPool, adminPool }: PasswordCheckPools): CheckPassword {
  // Of a password that nobody knows: what an unknown address is checked against.
  const decoy = hashPassword(randomUUID());
  const check: CheckPassword = async (email, password) => {
    const { rows } = await apiPool.query(
      'select id, tenant_id, email, role, password_hash from users where email = $1 and disabled_at is null',
      [email.toLowerCase()],
    );
    const [row] = z.array(HashRow.loose()).parse(rows);
    const isRight = await isPasswordOf(row?.password_hash ?? (await decoy), password);
    if (row === undefined || !isRight) return null;
    const user = UserRow.parse(row);
    if (!isOutdatedHash(row.password_hash)) return { user, passwordHash: row.password_hash };
    const renewed = await hashPassword(password);
    const { rowCount } = await adminPool.query(
      'update users set password_hash = $3 where id = $1 and password_hash = $2',
      [user.id, row.password_hash, renewed],
    );
    // Somebody else was faster: with a hash of the same password, or with another password.
    return rowCount === 1 ? { user, passwordHash: renewed } : check(email, password);
  };
  return check;
}
