import { createHash } from 'node:crypto';
import type { MlDsa44Key } from '../../../schemas/crypto/ml-dsa.js';

// `schemas/crypto/ml-dsa.ts` for simulated histories: a hash in the place of a signature. Signing and verifying
// took a quarter of their time, and no rule of the simulation is about forged signatures.

/** As in `schemas/crypto/algorithms.ts`: a module in the place of another one imports no neighbour. */
const ML_DSA_44 = { publicKeyBytes: 1312, signatureBytes: 2420 } as const;

const stretched = (bytes: number, ...parts: readonly Uint8Array[]): Uint8Array => {
  const hash = createHash('shake256', { outputLength: bytes });
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};

export function verifyMlDsa44(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return Buffer.compare(stretched(ML_DSA_44.signatureBytes, publicKey, message), signature) === 0;
}

export function mlDsa44Key(seed: Uint8Array): MlDsa44Key {
  const publicKey = stretched(ML_DSA_44.publicKeyBytes, seed);
  return { publicKey, sign: (message) => stretched(ML_DSA_44.signatureBytes, publicKey, message) };
}
