import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { sha256 } from '../../schemas/crypto/digest.js';
import { concatBytes, utf8 } from '../../schemas/crypto/encoding.js';
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

const PKCS8_PREFIX = Uint8Array.from(Buffer.from('302e020100300506032b657004220420', 'hex'));

export function testSigningKey(name: string, seed: string): TestSigningKey {
  const der = Buffer.from(concatBytes(PKCS8_PREFIX, sha256(utf8(seed))));
  const privateKey: KeyObject = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
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
