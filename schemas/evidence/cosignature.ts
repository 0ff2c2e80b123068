import { verifyEd25519 } from '../crypto/ed25519.js';
import { concatBytes, decodeUtf8, equalBytes, toBase64, utf8 } from '../crypto/encoding.js';
import {
  formatVerifierKey,
  type NoteSignature,
  noteKeyId,
  parseSignatureLine,
  parseVerifierKey,
  SIGNATURE_TYPES,
  type VerifierKey,
} from './signed-note.js';

/** Largest size of a file or an answer with cosignatures, in bytes. */
export const MAX_COSIGNATURES_BYTES = 64 * 1024;
/** Most cosignature lines of one checkpoint. */
const MAX_COSIGNATURES = 100;
const TIME_BYTES = 8;
/** Largest time that a `Date` can hold, in seconds since 1970. */
const LAST_SECOND = 8_640_000_000_000n;

/** @returns the verifier-key line of a witness (c2sp.org/tlog-cosignature, type 0x04) */
export function formatWitnessKey(name: string, publicKey: Uint8Array): string {
  return formatVerifierKey(name, publicKey, SIGNATURE_TYPES.cosignature);
}

/** @returns null if the line is not a verifier key of type 0x04 with a matching id */
export function parseWitnessKey(line: string): VerifierKey | null {
  return parseVerifierKey(line, SIGNATURE_TYPES.cosignature);
}

/**
 * Whether the name of a witness states that it cosigns a checkpoint only after it recomputed the
 * structure of the ledger up to it.
 */
export function isAuditingName(name: string): boolean {
  return name.endsWith('/structure');
}

/**
 * The message that a witness signs (c2sp.org/tlog-cosignature, “Ed25519 signed message”).
 * @param time seconds since 1970
 * @param noteText text of the checkpoint with its final line feed and all extension lines, without
 *   signature lines
 */
export function cosignatureMessage(time: number | bigint, noteText: string): Uint8Array {
  return utf8(`cosignature/v1\ntime ${time}\n${noteText}`);
}

/**
 * The cosignature line of a witness, line feed included.
 * @param time seconds since 1970
 * @param signature 64 bytes, over `cosignatureMessage`
 */
export function formatCosignatureLine(
  { name, publicKey }: Pick<VerifierKey, 'name' | 'publicKey'>,
  time: number,
  signature: Uint8Array,
): string {
  const stamp = new Uint8Array(TIME_BYTES);
  new DataView(stamp.buffer).setBigUint64(0, BigInt(time));
  const keyId = noteKeyId(name, publicKey, SIGNATURE_TYPES.cosignature);
  return `\u2014 ${name} ${toBase64(concatBytes(keyId, stamp, signature))}\n`;
}

/** A cosignature line as it was read. */
export interface CosignatureLine extends NoteSignature {
  /** The exact line with its line feed. */
  readonly line: string;
}

/**
 * Reads the lines of a `.cosignatures` file, or of a witness's answer.
 * @returns null if the bytes are anything but signature lines of a note, each ended by a line feed
 */
export function parseCosignatures(bytes: Uint8Array): readonly CosignatureLine[] | null {
  const text = bytes.length > MAX_COSIGNATURES_BYTES ? null : decodeUtf8(bytes);
  if (text === null || (text !== '' && !text.endsWith('\n'))) return null;
  const lines = text.split('\n').slice(0, -1);
  if (lines.length > MAX_COSIGNATURES) return null;
  const found: CosignatureLine[] = [];
  for (const line of lines) {
    const signature = parseSignatureLine(line);
    if (signature === null) return null;
    found.push({ ...signature, line: `${line}\n` });
  }
  return found;
}

/** Whether the line names this key. Verifiers ignore lines of other keys (c2sp.org/signed-note). */
export function isCosignatureBy(line: NoteSignature, key: VerifierKey): boolean {
  return line.name === key.name && equalBytes(line.keyId, key.keyId);
}

/**
 * Verifies the cosignature of a key over the text of a checkpoint.
 * @param line names this key
 * @returns the time that the witness states; null if the cosignature is invalid
 */
export async function verifyCosignature(
  noteText: string,
  { signature }: NoteSignature,
  key: VerifierKey,
): Promise<Date | null> {
  if (signature.length !== TIME_BYTES + 64) return null;
  const seconds = new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
  // The time of a checkpoint's cosignature is never zero (c2sp.org/tlog-witness).
  if (seconds === 0n || seconds > LAST_SECOND) return null;
  const message = cosignatureMessage(seconds, noteText);
  const isSigned = await verifyEd25519(key.publicKey, message, signature.slice(TIME_BYTES));
  return isSigned ? new Date(Number(seconds) * 1000) : null;
}
