import { hash, randomBytes } from 'node:crypto';

const PREFIX = 'svc_live_';
const SECRET_BYTES = 32;
const SHAPE = /^svc_live_[A-Za-z0-9_-]{43}$/;

/** A new API key: `svc_live_` and 256 random bits in base64url. */
export function newApiKeySecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
}

/** Whether a text has the form of an API key. One that has not is nobody's, and need not be looked up. */
export function isApiKeyShaped(text: string): boolean {
  return SHAPE.test(text);
}

/** What is kept of a key, and looked up: its SHA-256. Looking up a digest tells nothing by its timing that helps to guess a key. */
export function apiKeyDigest(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** What is shown of a key to people who have to tell several apart. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, PREFIX.length + 6);
}
