import { hash, verify } from '@node-rs/argon2';
import { RequestRefused } from '../../platform/errors.js';

/**
 * Argon2id with the parameters of the OWASP Password Storage Cheat Sheet: 19 MiB, two passes, one
 * lane.
 */
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const CURRENT = `$argon2id$v=19$m=${ARGON2ID.memoryCost},t=${ARGON2ID.timeCost},p=${ARGON2ID.parallelism}$`;

/** Hashes a password. @returns the hash in the PHC string format */
export function hashPassword(password: string): Promise<string> {
  return hash(password, ARGON2ID);
}

/** Verifies a password. The run time depends on the parameters of the hash, not on the result. */
export function isPasswordOf(passwordHash: string, password: string): Promise<boolean> {
  return verify(passwordHash, password);
}

/** Whether a hash has other parameters than the current ones. */
export function isOutdatedHash(passwordHash: string): boolean {
  return !passwordHash.startsWith(CURRENT);
}

/**
 * Checks that a new password is not the user's e-mail address. The schema of the request does not
 * know that address.
 * @param field name of the request's field
 * @throws RequestRefused VALIDATION_ERROR if it is
 */
export function refuseOwnAddress(password: string, email: string, field: 'password' | 'new_password'): void {
  if (password.trim().toLowerCase() === email.toLowerCase()) {
    throw new RequestRefused('VALIDATION_ERROR', undefined, {
      errors: [{ field, message: 'must not be the e-mail address of the user' }],
    });
  }
}
