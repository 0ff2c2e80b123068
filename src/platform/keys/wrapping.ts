import { type KeyObject, randomBytes } from 'node:crypto';
import { KeyError } from './errors.js';
import { NONCE_BYTES, open, seal } from './sealed-box.js';

/**
 * Identity that a wrapped key is bound to. A key that was moved to another row, owner or purpose
 * does not unwrap.
 */
export interface KeyIdentity {
  readonly keyId: string;
  readonly purpose: string;
  /** UUID of the site or tenant; null for keys of the installation. */
  readonly ownerId: string | null;
}

/**
 * Encrypts a key under the master key.
 * @returns a blob in the layout of `seal`
 */
export function wrapKey(master: KeyObject, key: Uint8Array, identity: KeyIdentity): Buffer {
  return seal(master, key, aadOf(identity), randomBytes(NONCE_BYTES));
}

/** @throws KeyError `unwrap_failed` if the master key is wrong or the row was altered */
export function unwrapKey(master: KeyObject, wrapped: Uint8Array, identity: KeyIdentity): Buffer {
  const key = open(master, wrapped, aadOf(identity));
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
