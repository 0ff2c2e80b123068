import { type CipherKey, createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import { KeyError } from './errors.js';

/**
 * The layout of all data that this service encrypts: version (1 byte) ‖ nonce (12) ‖ ciphertext ‖
 * tag (16).
 */
const VERSION = 1;
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES;

/**
 * Encrypts with AES-256-GCM.
 * @param key 32 bytes
 * @param nonce 12 random bytes that were never used with this key
 * @param aad context that the result is bound to; decryption requires the same bytes
 */
export function encrypt(key: CipherKey, plaintext: Uint8Array, aad: Uint8Array, nonce: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(aad);
  const blob = Buffer.allocUnsafe(HEADER_BYTES + plaintext.length + TAG_BYTES);
  blob[0] = VERSION;
  blob.set(nonce, 1);
  blob.set(cipher.update(plaintext), HEADER_BYTES);
  cipher.final();
  blob.set(cipher.getAuthTag(), HEADER_BYTES + plaintext.length);
  return blob;
}

/** @returns the plaintext, or `undefined` if the key, `aad` or any bit of the blob is wrong */
export function decrypt(key: CipherKey, blob: Uint8Array, aad: Uint8Array): Buffer | undefined {
  if (blob.length < HEADER_BYTES + TAG_BYTES || blob[0] !== VERSION) return undefined;
  const end = blob.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, blob.subarray(1, HEADER_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(aad);
  decipher.setAuthTag(blob.subarray(end));
  const plaintext = decipher.update(blob.subarray(HEADER_BYTES, end));
  try {
    decipher.final();
    return plaintext;
  } catch {
    return undefined;
  }
}

/**
 * Identity that a wrapped key is bound to. A key that was moved to another row, owner or purpose
 * does not unwrap.
 */
export interface KeyIdentity {
  readonly keyId: string;
  readonly purpose: string;
  /** UUID of the site or tenant, or null for keys of the installation. */
  readonly ownerId: string | null;
}

/**
 * Encrypts a key under the master key.
 * @returns a blob in the layout of `encrypt`
 */
export function wrapKey(master: KeyObject, key: Uint8Array, identity: KeyIdentity): Buffer {
  return encrypt(master, key, aadOf(identity), randomBytes(NONCE_BYTES));
}

/** @throws KeyError `unwrap_failed` if the master key is wrong or the row was altered */
export function unwrapKey(master: KeyObject, wrapped: Uint8Array, identity: KeyIdentity): Buffer {
  const key = decrypt(master, wrapped, aadOf(identity));
  if (key === undefined) {
    throw new KeyError(
      'unwrap_failed',
      `The key ${identity.keyId} cannot be unwrapped: the master key was rotated while this process ran (restart it), or the row of the key was altered.`,
    );
  }
  return key;
}

function aadOf({ keyId, purpose, ownerId }: KeyIdentity): Uint8Array {
  return Buffer.from(JSON.stringify(['consent-ledger key', purpose, keyId, ownerId]), 'utf8');
}
