import { randomBytes } from 'node:crypto';
import { hmacSha256, hmacSha256Hex, type Keyring } from '../../platform/keys/index.js';
import { NONCE_BYTES, open, seal } from '../../platform/keys/sealed-box.js';
import { base32 } from './totp.js';

export type FactorKeys = Pick<Keyring, 'accountKey' | 'open'>;

/** Length of a shared secret: that of HMAC-SHA-1 (RFC 4226 §4, R6 recommends 160 bits). */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 120 bits, of which a code shows the first 60. */
const RECOVERY_BYTES = 15;
const RECOVERY_GROUP = 6;

export function newFactorSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** Encrypts the secret of a user. @returns the layout of `seal` */
export async function sealFactorSecret(keys: FactorKeys, userId: string, secret: Uint8Array): Promise<Buffer> {
  return seal(await factorKey(keys), secret, aad(userId), randomBytes(NONCE_BYTES));
}

/** @throws Error if the value is not the one of this user: the row's seal was checked before */
export async function openFactorSecret(keys: FactorKeys, userId: string, sealed: Uint8Array): Promise<Buffer> {
  const secret = open(await factorKey(keys), sealed, aad(userId));
  if (secret === undefined) throw new Error(`the second factor of user ${userId} cannot be decrypted`);
  return secret;
}

/** Recovery codes, and the digests under which they are stored. */
export interface RecoveryCodes {
  readonly codes: readonly string[];
  readonly digests: readonly string[];
}

/** Makes ten codes of 60 random bits. */
export async function newRecoveryCodes(keys: FactorKeys, userId: string): Promise<RecoveryCodes> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => {
    const text = base32(randomBytes(RECOVERY_BYTES));
    return `${text.slice(0, RECOVERY_GROUP)}-${text.slice(RECOVERY_GROUP, 2 * RECOVERY_GROUP)}`;
  });
  return { codes, digests: await Promise.all(codes.map((code) => recoveryDigest(keys, userId, code))) };
}

/**
 * The digest of a recovery code: keyed, because 60 bits could be searched. Case, spaces and the dash
 * do not matter.
 */
export async function recoveryDigest(keys: FactorKeys, userId: string, code: string): Promise<string> {
  const key = hmacSha256(await keys.accountKey(), 'recovery code');
  return hmacSha256Hex(key, `${userId}\0${code.toLowerCase().replace(/[\s-]/g, '')}`);
}

async function factorKey(keys: FactorKeys): Promise<Buffer> {
  return hmacSha256(await keys.accountKey(), 'second factor');
}

function aad(userId: string): Uint8Array {
  return Buffer.from(`second-factor\0${userId}`, 'utf8');
}
