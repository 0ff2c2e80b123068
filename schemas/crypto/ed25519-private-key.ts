import { createPrivateKey, type KeyObject } from 'node:crypto';
import { concatBytes, fromHex } from './encoding.js';

/** PKCS #8 of an Ed25519 key, up to its seed (RFC 8410 §7). */
const PKCS8_PREFIX = fromHex('302e020100300506032b657004220420') ?? new Uint8Array();

/**
 * Returns the Ed25519 key of a seed. It does not use a JWK, because versions of Node.js disagree about a JWK whose two
 * keys do not match.
 * @param seed 32 bytes (RFC 8032 §5.1.5)
 */
export function ed25519PrivateKey(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.from(concatBytes(PKCS8_PREFIX, seed)), format: 'der', type: 'pkcs8' });
}
