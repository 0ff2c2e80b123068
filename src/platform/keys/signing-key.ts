import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import * as z from 'zod';
import { ed25519PrivateKey } from '../../../schemas/crypto/ed25519-private-key.js';
import { KeyError } from './errors.js';
import type { NewKey, StoredKey } from './keyring-store.js';

/** An Ed25519 key of the installation. */
export interface SigningKey {
  readonly keyId: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The public key's 32 bytes (RFC 8032). */
  readonly publicKeyBytes: Buffer;
}

const jwkSchema = z.object({ d: z.base64url(), x: z.base64url() });

/** Creates an Ed25519 key; its secret is the seed of RFC 8032 §5.1.5. */
export function newSigningKey(keyId: string): NewKey {
  const { d, x } = jwkSchema.parse(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }));
  return { keyId, secret: Buffer.from(d, 'base64url'), publicKey: Buffer.from(x, 'base64url') };
}

/** Returns the seed of a key (RFC 8032 §5.1.5), 32 bytes. Other keys of the installation are derived from it. */
export function seedOf({ privateKey }: SigningKey): Uint8Array {
  const { d } = jwkSchema.parse(privateKey.export({ format: 'jwk' }));
  return new Uint8Array(Buffer.from(d, 'base64url'));
}

/** @throws KeyError `unwrap_failed` if the stored public key does not belong to the secret */
export function signingKeyOf(stored: StoredKey): SigningKey {
  const { keyId, secret, publicKey: kept } = stored;
  const privateKey = ed25519PrivateKey(secret);
  const publicKey = createPublicKey(privateKey);
  const publicKeyBytes = Buffer.from(
    jwkSchema.pick({ x: true }).parse(publicKey.export({ format: 'jwk' })).x,
    'base64url',
  );
  if (kept === null || !publicKeyBytes.equals(kept)) {
    throw new KeyError(
      'unwrap_failed',
      `The public key stored with ${keyId} does not match its private key: the row was altered.`,
    );
  }
  return { keyId, privateKey, publicKey, publicKeyBytes };
}
