import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { base64, base64url, concat, hex, sha256, utf8 } from './primitives.js';

/** An Ed25519 key with a name: of the ledger, or for manifests. */
export interface NamedKey {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly type: 1 | 4;
  /** `<name>+<key id>+<base64(0x01 ‖ key)>` */
  readonly line: string;
  readonly privateKey: KeyObject;
}

/** PKCS #8 of an Ed25519 key without its 32 bytes (RFC 8410 §7). */
const PKCS8 = new Uint8Array([0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20]);

/**
 * Returns a key that is the same for the same label.
 * @param type 1: of a ledger; 4: of a witness
 */
export function namedKey(name: string, label: string, type: 1 | 4 = 1): NamedKey {
  const der = Buffer.from(concat(PKCS8, sha256(`key of ${label}`)));
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const publicKey = new Uint8Array(spki.subarray(-32));
  const typed = concat(Uint8Array.of(type), publicKey);
  const keyId = sha256(concat(utf8(`${name}\n`), typed)).slice(0, 4);
  return { name, keyId, publicKey, type, privateKey, line: `${name}+${hex(keyId)}+${base64(typed)}` };
}

/**
 * A signed note (c2sp.org/signed-note).
 * @param text lines, each ended by LF
 */
export function signedNote(text: string, ...keys: readonly NamedKey[]): string {
  const lines = keys.map(({ name, keyId, privateKey }) => {
    const signature = new Uint8Array(sign(null, utf8(text), privateKey));
    return `— ${name} ${base64(concat(keyId, signature))}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/** The detached JWS over a manifest (RFC 7515 appendix F) by `key`, which `certifier` certifies. */
export function manifestSignature(manifest: Uint8Array, key: NamedKey, origin: string, certifier: NamedKey): string {
  const certificate = signedNote(`consent-ledger manifest key v1\n${origin}\n${base64(key.publicKey)}\n`, certifier);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: base64url(key.publicKey) };
  const header = base64url(JSON.stringify({ alg: 'EdDSA', typ: 'consent-ledger-manifest', jwk, certificate }));
  const signature = sign(null, utf8(`${header}.${base64url(manifest)}`), key.privateKey);
  return `${header}..${base64url(new Uint8Array(signature))}`;
}

/**
 * The line of a cosignature (c2sp.org/tlog-cosignature).
 * @param text of the note, without its signature lines
 * @param seconds since 1970, which is signed
 * @param stated time that the line states
 */
export function cosignature(
  { name, keyId, privateKey }: NamedKey,
  text: string,
  seconds: number,
  stated = seconds,
): string {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(stated));
  const message = utf8(`cosignature/v1\ntime ${seconds}\n${text}`);
  return `— ${name} ${base64(concat(keyId, time, new Uint8Array(sign(null, message, privateKey))))}\n`;
}
