import { hash, verify } from '@node-rs/argon2';
import { RequestRefused } from '../../platform/errors/request-refused.js';

/** Argon2id as OWASP's password storage cheat sheet recommends: 19 MiB, two passes, one lane. */
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const CURRENT = `$argon2id$v=19$m=${ARGON2ID.memoryCost},t=${ARGON2ID.timeCost},p=${ARGON2ID.parallelism}$`;

/** What is kept of a password, in the PHC string format. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, ARGON2ID);
}

/** Takes as long as the parameters of the hash ask for, whether the password is right or not. */
export function isPasswordOf(passwordHash: string, password: string): Promise<boolean> {
  return verify(passwordHash, password);
}

/** Whether a hash was made with other parameters than those of today. */
export function isOutdatedHash(passwordHash: string): boolean {
  return !passwordHash.startsWith(CURRENT);
}

/**
 * The one thing about a new password that its schema cannot know.
 * @param field of the request
 * @throws RequestRefused VALIDATION_ERROR if it is the user's own address
 */
export function refuseOwnAddress(password: string, email: string, field: 'password' | 'new_password'): void {
  if (password.trim().toLowerCase() === email.toLowerCase()) {
    throw new RequestRefused('VALIDATION_ERROR', undefined, {
      errors: [{ field, message: 'must not be the e-mail address of the user' }],
    });
  }
}
