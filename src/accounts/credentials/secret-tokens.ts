import { randomBytes } from 'node:crypto';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';

/** What a secret token is good for; its first letters say so, so that one that leaked can be told by scanners. */
export type SecretTokenUse = 'refresh' | 'invitation' | 'password reset';

const PREFIXES: Readonly<Record<SecretTokenUse, string>> = {
  refresh: 'clr_',
  invitation: 'cli_',
  'password reset': 'clp_',
};
const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** A secret that is handed out once, and the digest that is kept of it. */
export interface SecretToken {
  readonly token: string;
  /** SHA-256 of the token: with 256 random bits it cannot be searched, and looking it up by its digest tells nothing by its time. */
  readonly digest: Buffer;
}

/** A new token of 256 random bits behind the prefix of its use, and the digest to keep of it. The token itself is handed out once. */
export function newSecretToken(use: SecretTokenUse): SecretToken {
  const token = PREFIXES[use] + randomBytes(SECRET_BYTES).toString('base64url');
  return { token, digest: digestOf(token) };
}

/** @returns the digest under which a token would be kept; null if it is none of this use */
export function secretTokenDigest(use: SecretTokenUse, token: string): Buffer | null {
  const prefix = PREFIXES[use];
  return token.startsWith(prefix) && SECRET.test(token.slice(prefix.length)) ? digestOf(token) : null;
}

function digestOf(token: string): Buffer {
  return Buffer.from(sha256(utf8(token)));
}
