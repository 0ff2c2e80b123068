import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { RequestRefused } from '../../platform/errors.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Lifetime of an access token, in seconds. It is short because a verifier that has only the published key does not
 * learn of a sign-out.
 */
export const ACCESS_TOKEN_SECONDS = 15 * MINUTE;

/** Longest lifetime of a sign-in, in seconds, regardless of renewals. */
export const SIGN_IN_SECONDS = 30 * DAY;

/** Lifetime of a sign-in after its last renewal, in seconds. */
export const IDLE_SECONDS = 7 * DAY;

/** Lifetime of an invitation, in seconds. */
export const INVITATION_SECONDS = 7 * DAY;

/** Lifetime of the token that completes a sign-up, in seconds. */
export const SIGN_UP_SECONDS = DAY;

/** Lifetime of a password-reset token, in seconds. */
export const PASSWORD_RESET_SECONDS = DAY;

/**
 * Time between the publication of a new access-token key and the first token that it signs, in seconds. It is twice the
 * cache lifetime of the JWK Set (`max-age=300`).
 */
export const KEY_PUBLISHED_AHEAD_SECONDS = 10 * MINUTE;

/**
 * How long a key still verifies after its last token expires, in seconds, to allow for clock skew and transit.
 */
export const KEY_SLACK_SECONDS = MINUTE;

/**
 * Seconds until a compromised key is replaced: the time in which every process learns of the new
 * key.
 */
export const KEY_AT_ONCE_SECONDS = 2;

/** How long ended sign-ins and password resets are kept for investigations, in seconds. */
export const KEPT_AFTER_END_SECONDS = 7 * DAY;

/**
 * How long expired invitations are kept, in seconds. The period is limited because they contain e-mail addresses.
 */
export const INVITATIONS_KEPT_SECONDS = 90 * DAY;

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

/** Returns whether a password matches a hash. The run time depends on the parameters of the hash, not on the result. */
export function isPasswordOf(passwordHash: string, password: string): Promise<boolean> {
  return verify(passwordHash, password);
}

/** Returns whether a hash was made with parameters other than the current ones. */
export function isOutdatedHash(passwordHash: string): boolean {
  return !passwordHash.startsWith(CURRENT);
}

/**
 * Checks that a new password is not the user's e-mail address. The schema of the request does not
 * know that address.
 * @param field name of the request's field
 * @throws RequestRefused VALIDATION_ERROR if the password is the address
 */
export function refuseOwnAddress(password: string, email: string, field: 'password' | 'new_password'): void {
  if (password.trim().toLowerCase() === email.toLowerCase()) {
    throw new RequestRefused('VALIDATION_ERROR', undefined, {
      errors: [{ field, message: 'must not be the e-mail address of the user' }],
    });
  }
}

/**
 * The purpose of a secret token. The token's prefix shows it, so that secret scanners recognise a
 * leaked token.
 */
export type SecretTokenUse = 'refresh' | 'invitation' | 'password reset';

const PREFIXES: Readonly<Record<SecretTokenUse, string>> = {
  refresh: 'clr_',
  invitation: 'cli_',
  'password reset': 'clp_',
};
const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** A secret that is returned once, and its stored digest. */
export interface SecretToken {
  readonly token: string;
  /**
   * SHA-256 of the token. A plain hash is enough: nobody can search 256 random bits, and the timing of a look-up by
   * digest reveals nothing about the token.
   */
  readonly digest: Buffer;
}

/** Creates a token: the prefix of its purpose and 256 random bits. */
export function newSecretToken(use: SecretTokenUse): SecretToken {
  return derivedSecretToken(use, randomBytes(SECRET_BYTES));
}

/**
 * Derives a token from 32 bytes that only the service can compute and that look random to everyone else.
 * @throws RangeError if the secret is not 32 bytes long
 */
export function derivedSecretToken(use: SecretTokenUse, secret: Buffer): SecretToken {
  if (secret.length !== SECRET_BYTES) throw new RangeError('a token is derived from 32 bytes');
  const token = PREFIXES[use] + secret.toString('base64url');
  return { token, digest: digestOf(token) };
}

/** Returns the digest under which a token is stored, or null if the text is not a token for this purpose. */
export function secretTokenDigest(use: SecretTokenUse, token: string): Buffer | null {
  const prefix = PREFIXES[use];
  return token.startsWith(prefix) && SECRET.test(token.slice(prefix.length)) ? digestOf(token) : null;
}

function digestOf(token: string): Buffer {
  return Buffer.from(sha256(utf8(token)));
}
