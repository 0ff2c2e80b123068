import { ML_DSA_44 } from '../crypto/algorithms.js';
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
 * A verifier key (c2sp.org/signed-note): `<name>+<key id, 8 hex digits>+<base64(signature type ‖ public
 * key)>`.
 */
export interface VerifierKey {
  readonly name: string;
  readonly keyId: Uint8Array;
  /** 32 bytes of Ed25519 (types 0x01 and 0x04), or 1312 of ML-DSA-44 (type 0x06). */
  readonly publicKey: Uint8Array;
  readonly type: SignatureType;
}

/** Maximum number of signature lines of a note (docs/evidence-format.md §7). */
const MAX_SIGNATURES = 256;

/** The name of a key has no +, no white space of Unicode, no U+FEFF and no control character: `\s` lacks U+0085. */
const KEY_LINE = /^([^+\s\p{Cc}]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u;
const SIGNATURE_LINE = /^\u2014 ([^+\s\p{Cc}]+) ([A-Za-z0-9+/=]+)$/u;

/**
 * Signature types of C2SP signed notes that this project uses: Ed25519 over a text, a cosignature with
 * Ed25519, and a signature or cosignature of a checkpoint with ML-DSA-44.
 */
export const SIGNATURE_TYPES = { ed25519: 0x01, cosignature: 0x04, mlDsa: 0x06 } as const;
export type SignatureType = (typeof SIGNATURE_TYPES)[keyof typeof SIGNATURE_TYPES];

/** Types of the keys of a ledger. */
const LEDGER_KEY_TYPES: readonly SignatureType[] = [SIGNATURE_TYPES.ed25519, SIGNATURE_TYPES.mlDsa];

/** Key id: first 4 bytes of SHA-256(name ‖ LF ‖ signature type ‖ public key). */
export function noteKeyId(
  name: string,
  publicKey: Uint8Array,
  type: SignatureType = SIGNATURE_TYPES.ed25519,
): Uint8Array {
  return sha256(utf8(`${name}\n`), Uint8Array.of(type), publicKey).slice(0, 4);
}

/** The line of a verifier key. */
export function keyLineOf({ name, publicKey, type }: Omit<VerifierKey, 'keyId'>): string {
  return formatVerifierKey(name, publicKey, type);
}

/** Whether two keys have the same name, type and public key. */
export function isSameKey(a: VerifierKey, b: VerifierKey): boolean {
  return a.name === b.name && a.type === b.type && equalBytes(a.publicKey, b.publicKey);
}

export function formatVerifierKey(
  name: string,
  publicKey: Uint8Array,
  type: SignatureType = SIGNATURE_TYPES.ed25519,
): string {
  return `${name}+${toHex(noteKeyId(name, publicKey, type))}+${toBase64(concatBytes(Uint8Array.of(type), publicKey))}`;
}

/** @returns null if the line is not a verifier key of one of these signature types with a matching id */
export function parseVerifierKey(line: string, types = LEDGER_KEY_TYPES): VerifierKey | null {
  const match = KEY_LINE.exec(line.trim());
  const [, name, id, key] = match ?? [];
  if (name === undefined || id === undefined || key === undefined) return null;
  const keyId = fromHex(id);
  const bytes = fromBase64(key);
  const type = types.find((one) => one === bytes?.[0]);
  if (keyId === null || bytes === null || type === undefined) return null;
  const publicKey = bytes.slice(1);
  if (publicKey.length !== (type === SIGNATURE_TYPES.mlDsa ? ML_DSA_44.publicKeyBytes : 32)) return null;
  return equalBytes(noteKeyId(name, publicKey, type), keyId) ? { name, keyId, publicKey, type } : null;
}

/** The signature line of an Ed25519 key, including its line feed. */
export function formatSignatureLine(name: string, publicKey: Uint8Array, signature: Uint8Array): string {
  return `\u2014 ${name} ${toBase64(concatBytes(noteKeyId(name, publicKey), signature))}\n`;
}

/** The whole note. @param text the text, which ends with a line feed */
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

/** @param line a line without its line feed @returns null if it is not a signature line of a note */
export function parseSignatureLine(line: string): NoteSignature | null {
  const [, name, encoded] = SIGNATURE_LINE.exec(line) ?? [];
  const bytes = encoded === undefined ? null : fromBase64(encoded);
  if (name === undefined || bytes === null || bytes.length < 5) return null;
  return { name, keyId: bytes.slice(0, 4), signature: bytes.slice(4) };
}

export type NoteVerdict = 'signed' | 'no-signature-by-this-key' | 'bad-signature';

/**
 * Looks for the signature of an Ed25519 key over the text of a note. Signatures by other keys are ignored. An invalid
 * signature by this key (name and id) is fatal, and so is a second one.
 */
export function verifyEd25519Note(note: SignedNote, key: VerifierKey): Promise<NoteVerdict> {
  const message = utf8(note.text);
  return verdictOf(linesOf(note, key.name, key.keyId), ({ signature }) =>
    verifyEd25519(key.publicKey, message, signature),
  );
}

/** The signature lines of a key. */
export function linesOf({ signatures }: SignedNote, name: string, keyId: Uint8Array): readonly NoteSignature[] {
  return signatures.filter((line) => line.name === name && equalBytes(line.keyId, keyId));
}

/** @param lines the lines of one key */
export async function verdictOf(
  lines: readonly NoteSignature[],
  isRight: (line: NoteSignature) => Promise<boolean>,
): Promise<NoteVerdict> {
  const [line, ...more] = lines;
  if (line === undefined) return 'no-signature-by-this-key';
  return more.length === 0 && (await isRight(line)) ? 'signed' : 'bad-signature';
}

/** Returns whether a text has control characters other than the line feed, which a note must not contain. */
function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if ((code < 0x20 && code !== 0x0a) || code === 0x7f) return true;
  }
  return false;
}
