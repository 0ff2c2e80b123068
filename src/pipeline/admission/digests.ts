import { hash } from 'node:crypto';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { hmacSha256 } from '../../platform/keys/index.js';
import type { Channel } from '../../tenancy/directory/site-context.js';

/** 128 bits: two keys of one site practically never collide, and the index has half the size. */
const DIGEST_BYTES = 16;

/**
 * Returns the digest that the database stores of a nonce. It is not keyed, because a nonce
 * belongs to one site and is not personal data.
 */
export function nonceDigest(siteId: string, nonce: string): Buffer {
  return Buffer.from(hash('sha256', `${siteId}\0${nonce}`, 'binary'), 'latin1').subarray(0, DIGEST_BYTES);
}

/**
 * Returns the digest that the database stores of an idempotency key.
 * Browser and backend have separate key spaces. The API key of a browser is public, and a visitor
 * must not claim a key that the backend is going to use.
 * The digest is keyed, because clients put names into idempotency keys.
 */
export function idempotencyDigest(siteKey: Uint8Array, channel: Channel, key: string): Buffer {
  return hmacSha256(siteKey, `idempotency\0${channel}\0${key}`).subarray(0, DIGEST_BYTES);
}

/**
 * Returns the digest that shows whether a later request with the same idempotency key has the same
 * body: of its canonical text (RFC 8785), because an order of members is no other body. It is keyed, so
 * low-entropy content cannot be guessed from it.
 * @param vouched what its approval token vouches for; null: it has none, or one that the site does not know. Another
 *   token for the same person is no other body
 */
export function bodyDigest(siteKey: Uint8Array, consent: JsonObject, vouched: JsonObject | null): Buffer {
  const { approval_token: _, ...stated } = consent;
  return hmacSha256(siteKey, `body\0${canonicalJson({ stated, vouched })}`).subarray(0, DIGEST_BYTES);
}
