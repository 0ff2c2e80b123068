import { randomBytes } from 'node:crypto';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';

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
   * SHA-256 of the token. 256 random bits cannot be searched, and the timing of a look-up by digest
   * reveals nothing about the token.
   */
  readonly digest: Buffer;
}

/** Creates a token: the prefix of its purpose and 256 random bits. */
export function newSecretToken(use: SecretTokenUse): SecretToken {
  return derivedSecretToken(use, randomBytes(SECRET_BYTES));
}

/**
 * Derives a token from 32 bytes that are secret and random to everyone but the service.
 * @throws RangeError for another length
 */
export function derivedSecretToken(use: SecretTokenUse, secret: Buffer): SecretToken {
  if (secret.length !== SECRET_BYTES) throw new RangeError('a token is derived from 32 bytes');
  const token = PREFIXES[use] + secret.toString('base64url');
  return { token, digest: digestOf(token) };
}

/**
 * The digest under which a token is stored. @returns null if the text is no token for this purpose
 */
export function secretTokenDigest(use: SecretTokenUse, token: string): Buffer | null {
  const prefix = PREFIXES[use];
  return token.startsWith(prefix) && SECRET.test(token.slice(prefix.length)) ? digestOf(token) : null;
}

function digestOf(token: string): Buffer {
  return Buffer.from(sha256(utf8(token)));
}
