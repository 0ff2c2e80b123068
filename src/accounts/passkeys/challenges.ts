import { randomBytes, timingSafeEqual } from 'node:crypto';
import { hmacSha256, type Keyring } from '../../platform/keys/index.js';

/** What an authenticator signs a challenge for. A challenge is good for one purpose. */
export type ChallengeUse = 'registration' | 'sign_in' | 'second_factor';

/** How long a challenge is valid, in milliseconds: people look for a security key. */
export const CHALLENGE_MS = 5 * 60_000;
/** Clocks of processes may differ by this, in milliseconds. */
const SKEW_MS = 30_000;
const TIME_BYTES = 8;
const RANDOM_BYTES = 16;

type ChallengeKeys = Pick<Keyring, 'accountKey'>;

/**
 * Makes a challenge (WebAuthn §13.4.3): its time, 128 random bits, and a keyed hash of both. The service stores nothing
 * of it, so that requests without a sign-in cannot fill a table; the time makes it valid once (`use-passkey.ts`).
 * @param nowMs Unix time
 * @returns base64url
 */
export async function newChallenge(keys: ChallengeKeys, use: ChallengeUse, nowMs: number): Promise<string> {
  const stated = Buffer.alloc(TIME_BYTES + RANDOM_BYTES);
  stated.writeBigUInt64BE(BigInt(Math.floor(nowMs)));
  randomBytes(RANDOM_BYTES).copy(stated, TIME_BYTES);
  return Buffer.concat([stated, await authenticator(keys, use, stated)]).toString('base64url');
}

/**
 * Returns the time of a challenge.
 * @param nowMs Unix time
 * @returns null if the service did not make it for this purpose, or it has expired
 */
export async function timeOfChallenge(
  keys: ChallengeKeys,
  use: ChallengeUse,
  challenge: string,
  nowMs: number,
): Promise<number | null> {
  const bytes = Buffer.from(challenge, 'base64url');
  const stated = bytes.subarray(0, TIME_BYTES + RANDOM_BYTES);
  const expected = await authenticator(keys, use, stated);
  const given = bytes.subarray(TIME_BYTES + RANDOM_BYTES);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const time = Number(stated.readBigUInt64BE());
  return time <= nowMs + SKEW_MS && nowMs < time + CHALLENGE_MS ? time : null;
}

async function authenticator(keys: ChallengeKeys, use: ChallengeUse, stated: Uint8Array): Promise<Buffer> {
  const key = hmacSha256(await keys.accountKey(), 'passkey challenge');
  return hmacSha256(key, Buffer.concat([Buffer.from(`${use}\0`, 'utf8'), stated]));
}
