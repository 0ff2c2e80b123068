import { hash, randomBytes } from 'node:crypto';

const PREFIXES = { live: 'svc_live_', test: 'svc_test_' } as const;
const SECRET_BYTES = 32;
const SHAPE = /^svc_(?:live|test)_[A-Za-z0-9_-]{43}$/;

/** Creates an API key: `svc_live_` or `svc_test_`, and 256 random bits in base64url. */
export function newApiKeySecret(mode: keyof typeof PREFIXES): string {
  return PREFIXES[mode] + randomBytes(SECRET_BYTES).toString('base64url');
}

/** Whether a text has the form of an API key. Other texts need no database look-up. */
export function isApiKeyShaped(text: string): boolean {
  return SHAPE.test(text);
}

/**
 * The SHA-256 of a key, under which it is stored and looked up. The timing of a look-up by digest
 * does not help to guess a key.
 */
export function apiKeyDigest(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** The start of a key, which the panel shows so that users can tell keys apart. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, PREFIXES.live.length + 6);
}
