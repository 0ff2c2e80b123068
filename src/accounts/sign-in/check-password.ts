import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import * as z from 'zod';
import { withTransaction } from '../../platform/database/pool.js';
import { type RowSeals, readSealed } from '../../platform/keys/index.js';
import { hashPassword, isOutdatedHash, isPasswordOf } from '../credentials/credentials.js';
import { type User, UserRow } from '../users/user-directory.js';

/** A user whose password was verified. */
export interface CheckedUser {
  readonly user: User;
  /**
   * The verified hash. A sign-in starts only if the user still has it when the sign-in is stored.
   */
  readonly passwordHash: string;
}

/**
 * Verifies an e-mail address and a password.
 * @returns null if either is wrong or the user's row was altered; an unknown address takes as long as a
 *   wrong password
 */
export type CheckPassword = (email: string, password: string) => Promise<CheckedUser | null>;

export interface PasswordCheckPools {
  /** May SELECT `users`. */
  readonly apiPool: pg.Pool;
  /** May UPDATE `users`, to replace a hash that has outdated parameters when its user signs in. */
  readonly adminPool: pg.Pool;
  readonly seals: RowSeals;
}

/** The user whom the row shows, and the verified hash. */
const CheckedRow = z
  .looseObject({ password_hash: z.string() })
  .transform((row): CheckedUser => ({ user: UserRow.parse(row), passwordHash: row.password_hash }));

/** Creates the password check, which also replaces hashes that have outdated parameters. Database errors are thrown. */
export function createPasswordCheck({ apiPool, adminPool, seals }: PasswordCheckPools): CheckPassword {
  // The hash of a random password, against which unknown addresses are checked. Otherwise the
  // response time would reveal whether an address exists.
  const decoy = hashPassword(randomUUID());
  const check: CheckPassword = async (email, password) => {
    const query = {
      table: 'users',
      where: 'email = $1 and disabled_at is null',
      values: [email.toLowerCase()],
    } as const;
    const found = await readSealed(apiPool, seals, query, CheckedRow);
    const isRight = await isPasswordOf(found?.passwordHash ?? (await decoy), password);
    if (found === null || !isRight) return null;
    const { user, passwordHash } = found;
    if (!isOutdatedHash(passwordHash)) return found;
    const renewed = await hashPassword(password);
    const { rowCount } = await withTransaction(adminPool, (db) =>
      db.query('update users set password_hash = $3 where id = $1 and password_hash = $2', [
        user.id,
        passwordHash,
        renewed,
      ]),
    );
    // A concurrent request has replaced the hash, for the same password or for another one: check again.
    return rowCount === 1 ? { user, passwordHash: renewed } : check(email, password);
  };
  return check;
}
