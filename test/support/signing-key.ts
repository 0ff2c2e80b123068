import { createPublicKey, sign } from 'node:crypto';
import { sha256 } from '../../schemas/crypto/digest.js';
import { ed25519PrivateKey } from '../../schemas/crypto/ed25519-private-key.js';
import { utf8 } from '../../schemas/crypto/encoding.js';
import { formatNote, formatSignatureLine, formatVerifierKey } from '../../schemas/evidence/signed-note.js';

/** A named Ed25519 key, the same for the same seed. */
export interface TestSigningKey {
  readonly name: string;
  readonly publicKey: Uint8Array;
  /** C2SP verifier-key line. */
  readonly verifierKey: string;
  sign(message: Uint8Array): Uint8Array;
  /** Returns a signature line of a note over this text. */
  signatureLine(text: string): string;
}

export function testSigningKey(name: string, seed: string): TestSigningKey {
  const privateKey = ed25519PrivateKey(sha256(utf8(seed)));
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const publicKey = new Uint8Array(spki.subarray(-32));
  const signBytes = (message: Uint8Array) => new Uint8Array(sign(null, message, privateKey));
  return {
    name,
    publicKey,
    verifierKey: formatVerifierKey(name, publicKey),
    sign: signBytes,
    signatureLine: (text) => formatSignatureLine(name, publicKey, signBytes(utf8(text))),
  };
}

/** Returns a note over this text, signed by these keys. */
export function signedNote(text: string, ...keys: readonly TestSigningKey[]): string {
  return formatNote(
    text,
    keys.map((key) => key.signatureLine(text)),
  );
}
