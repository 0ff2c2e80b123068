import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { decrypt, encrypt, NONCE_BYTES } from '../../platform/keys/aes-gcm.js';
import { hmacSha256, hmacSha256Hex, type Keyring } from '../../platform/keys/index.js';

export type FactorKeys = Pick<Keyring, 'accountKey' | 'open'>;

/** Length of a shared secret: that of HMAC-SHA-1 (RFC 4226 §4, R6 recommends 160 bits). */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 120 random bits for each code, which shows the first 60. */
const RECOVERY_BYTES = 15;
const RECOVERY_GROUP = 6;

export function newFactorSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** Encrypts the secret of a user. @returns the layout of `encrypt` */
export async function sealFactorSecret(keys: FactorKeys, userId: string, secret: Uint8Array): Promise<Buffer> {
  return encrypt(await factorKey(keys), secret, aad(userId), randomBytes(NONCE_BYTES));
}

/**
 * Decrypts the secret of a user. @throws Error if the value was not encrypted for this user; the row's seal was checked
 * before
 */
export async function openFactorSecret(keys: FactorKeys, userId: string, sealed: Uint8Array): Promise<Buffer> {
  const secret = decrypt(await factorKey(keys), sealed, aad(userId));
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
 * Returns the digest of a recovery code. It is keyed because 60 bits can be searched. Case, spaces and the dash are
 * ignored.
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

/** Seconds of one step (RFC 6238 §5.2). */
const STEP_SECONDS = 30;
const DIGITS = 6;
/** Number of steps before and after the current one whose codes are accepted: clocks differ, and typing takes time. */
const SKEW_STEPS = 1;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * Computes a time-based one-time password (RFC 6238) with HMAC-SHA-1, which every authenticator
 * app supports, and six digits.
 * @param secret shared secret, 20 bytes
 * @param step number of the 30 s step since 1970
 */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  // RFC 4226 §5.3: dynamic truncation.
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/**
 * Finds the step of a code.
 * @param nowSeconds Unix time
 * @param after only later steps are accepted, so that a code is valid once; null permits all
 * @returns null if the code belongs to no accepted step
 */
export function stepOfCode(secret: Uint8Array, code: string, nowSeconds: number, after: number | null): number | null {
  const current = Math.floor(nowSeconds / STEP_SECONDS);
  let found: number | null = null;
  for (let step = current - SKEW_STEPS; step <= current + SKEW_STEPS; step += 1) {
    const isRight = areEqual(totpCode(secret, step), code);
    if (isRight && (after === null || step > after)) found ??= step;
  }
  return found;
}

function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The URI that authenticator apps read from a QR code (Key Uri Format of Google Authenticator). */
export function otpauthUri(secret: string, account: string): string {
  const issuer = 'Consent Ledger';
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const query = `secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`;
  return `otpauth://totp/${label}?${query}`;
}

/** Base32 in lower case without padding (RFC 4648 §6). @param bytes a multiple of five bytes */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((group) => BASE32[Number.parseInt(group, 2)] ?? '').join('');
}
