import { createHmac, timingSafeEqual } from 'node:crypto';

/** Seconds of one step (RFC 6238 §5.2). */
const STEP_SECONDS = 30;
const DIGITS = 6;
/** Steps before and after the current one whose codes count: clocks differ, and typing takes time. */
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
 * @param after only steps after this one count, so that a code is valid once; null: all
 * @returns null if the code belongs to no step that counts
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
