import { sha256 } from '../crypto/digest.js';
import { verifyEd25519 } from '../crypto/ed25519.js';
import { concatBytes, equalBytes, fromBase64, fromHex, toBase64, toHex, utf8 } from '../crypto/encoding.js';

/** A C2SP signed note (c2sp.org/signed-note): a text and lines of signatures over it. */
export interface SignedNote {
  /** Ends with a line feed; the signature is over its UTF-8. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

export interface NoteSignature {
  readonly name: string;
  /** 4 bytes. */
  readonly keyId: Uint8Array;
  readonly signature: Uint8Array;
}

/**
 * A verifier key (c2sp.org/signed-note): `<name>+<key id, 8 hex digits>+<base64(signature type ‖
 * 32-byte Ed25519 key)>`. The type is 0x01, or 0x04 for the key of a witness.
 */
export interface VerifierKey {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly publicKey: Uint8Array;
}

const MAX_SIGNATURES = 100;

/** Signature types of C2SP signed notes that this project uses. */
export const SIGNATURE_TYPES = { ed25519: 0x01, cosignature: 0x04 } as const;
export type SignatureType = (typeof SIGNATURE_TYPES)[keyof typeof SIGNATURE_TYPES];

/** Key id: first 4 bytes of SHA-256(name ‖ LF ‖ signature type ‖ public key). */
export function noteKeyId(
  name: string,
  publicKey: Uint8Array,
  type: SignatureType = SIGNATURE_TYPES.ed25519,
): Uint8Array {
  return sha256(utf8(`${name}\n`), Uint8Array.of(type), publicKey).slice(0, 4);
}

export function formatVerifierKey(
  name: string,
  publicKey: Uint8Array,
  type: SignatureType = SIGNATURE_TYPES.ed25519,
): string {
  return `${name}+${toHex(noteKeyId(name, publicKey, type))}+${toBase64(concatBytes(Uint8Array.of(type), publicKey))}`;
}

/** @returns null if the line is not a verifier key of this signature type with a matching id */
export function parseVerifierKey(line: string, type: SignatureType = SIGNATURE_TYPES.ed25519): VerifierKey | null {
  const match = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(line.trim());
  const [, name, id, key] = match ?? [];
  if (name === undefined || id === undefined || key === undefined) return null;
  const keyId = fromHex(id);
  const bytes = fromBase64(key);
  if (keyId === null || bytes === null || bytes.length !== 33 || bytes[0] !== type) return null;
  const publicKey = bytes.slice(1);
  return equalBytes(noteKeyId(name, publicKey, type), keyId) ? { name, keyId, publicKey } : null;
}

/** The signature line of an Ed25519 key, line feed included. */
export function formatSignatureLine(name: string, publicKey: Uint8Array, signature: Uint8Array): string {
  return `\u2014 ${name} ${toBase64(concatBytes(noteKeyId(name, publicKey), signature))}\n`;
}

/** The whole note. @param text ends with a line feed */
export function formatNote(text: string, signatureLines: readonly string[]): string {
  return `${text}\n${signatureLines.join('')}`;
}

/** @returns null if the text is not a signed note */
export function parseNote(note: string): SignedNote | null {
  if (hasControlCharacter(note)) return null;
  const split = note.lastIndexOf('\n\n');
  if (split < 0 || !note.endsWith('\n')) return null;
  const text = note.slice(0, split + 1);
  const lines = note.slice(split + 2, -1).split('\n');
  if (lines.length > MAX_SIGNATURES) return null;
  const signatures: NoteSignature[] = [];
  for (const line of lines) {
    const signature = parseSignatureLine(line);
    if (signature === null) return null;
    signatures.push(signature);
  }
  return { text, signatures };
}

/** @param line without its line feed @returns null if it is not a signature line of a note */
export function parseSignatureLine(line: string): NoteSignature | null {
  const [, name, encoded] = /^\u2014 ([^+\s]+) ([A-Za-z0-9+/=]+)$/.exec(line) ?? [];
  const bytes = encoded === undefined ? null : fromBase64(encoded);
  if (name === undefined || bytes === null || bytes.length < 5) return null;
  return { name, keyId: bytes.slice(0, 4), signature: bytes.slice(4) };
}

export type NoteVerdict = 'signed' | 'no-signature-by-this-key' | 'bad-signature';

/**
 * Looks for a key's signature on a note. Signatures by other keys are ignored; one by this key
 * (name and id) that is wrong is fatal, and so is a second one by it.
 */
export async function verifyNote(note: SignedNote, key: VerifierKey): Promise<NoteVerdict> {
  const own = note.signatures.filter((line) => line.name === key.name && equalBytes(line.keyId, key.keyId));
  const [signature] = own;
  if (signature === undefined) return 'no-signature-by-this-key';
  if (own.length > 1) return 'bad-signature';
  return (await verifyEd25519(key.publicKey, utf8(note.text), signature.signature)) ? 'signed' : 'bad-signature';
}

/** Control characters other than the line feed, which no note may hold. */
function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if ((code < 0x20 && code !== 0x0a) || code === 0x7f) return true;
  }
  return false;
}
