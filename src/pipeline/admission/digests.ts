import { hash } from 'node:crypto';
import { hmacSha256 } from '../../platform/keys/index.js';
import type { Channel } from '../../tenancy/directory/caller.js';

/** 128 bits: enough that two keys of one site never meet by chance, and half the index. */
const DIGEST_BYTES = 16;

/** What a nonce is remembered by. A nonce belongs to a site, and is nobody's personal datum. */
export function nonceDigest(siteId: string, nonce: string): Buffer {
  return Buffer.from(hash('sha256', `${siteId}\0${nonce}`, 'binary'), 'latin1').subarray(0, DIGEST_BYTES);
}

/**
 * What an idempotency key is remembered by. Browser and backend have keys of their own: a browser's API key is public, and a visitor must not be
 * able to claim a key that the backend is going to use. Keyed, because callers put names into such keys.
 */
export function idempotencyDigest(siteKey: Uint8Array, channel: Channel, key: string): Buffer {
  return hmacSha256(siteKey, `idempotency\0${channel}\0${key}`).subarray(0, DIGEST_BYTES);
}

/** Tells whether a later request with the same key says the same. Keyed: low-entropy content cannot be guessed from it. */
export function bodyDigest(siteKey: Uint8Array, consent: unknown): Buffer {
  return hmacSha256(siteKey, `body\0${JSON.stringify(consent)}`).subarray(0, DIGEST_BYTES);
}
