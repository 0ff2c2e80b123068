import { verifyEd25519 } from '../crypto/ed25519.js';
import { concatBytes, decodeUtf8, equalBytes, toBase64, uint64, utf8 } from '../crypto/encoding.js';
import { verifyMlDsa44 } from '../crypto/ml-dsa.js';
import { type Checkpoint, parseCheckpoint } from './checkpoint.js';
import {
  type NoteSignature,
  noteKeyId,
  parseSignatureLine,
  parseVerifierKey,
  SIGNATURE_TYPES,
  type SignatureType,
  type VerifierKey,
} from './signed-note.js';

/** Largest size of a file or an answer with cosignatures, in bytes. */
export const MAX_COSIGNATURES_BYTES = 512 * 1024;
/** Maximum number of cosignature lines of one checkpoint. */
const MAX_COSIGNATURES = 100;
const TIME_BYTES = 8;
/** Largest time that a `Date` can hold, in seconds since 1970. */
const LAST_SECOND = 8_640_000_000_000n;

/** Types of the keys of a witness. */
const WITNESS_KEY_TYPES: readonly SignatureType[] = [SIGNATURE_TYPES.cosignature, SIGNATURE_TYPES.mlDsa];

/** @returns null if the line is not a verifier key of type 0x04 or 0x06 with a matching id */
export function parseWitnessKey(line: string): VerifierKey | null {
  return parseVerifierKey(line, WITNESS_KEY_TYPES);
}

/**
 * Returns whether the name of a witness states that it only cosigns a checkpoint after recomputing the structure of the
 * ledger up to it.
 */
export function isAuditingName(name: string): boolean {
  return name.endsWith('/structure');
}

/**
 * The message that a witness signs with Ed25519 (c2sp.org/tlog-cosignature, “Ed25519 signed message”).
 * @param time seconds since 1970
 * @param noteText text of the checkpoint with its final line feed and all extension lines, without
 *   signature lines
 */
export function cosignatureMessage(time: number | bigint, noteText: string): Uint8Array {
  return utf8(`cosignature/v1\ntime ${time}\n${noteText}`);
}

const SUBTREE_LABEL = utf8('subtree/v1\n\0');

/**
 * The message that a ledger or a witness signs with ML-DSA-44 (c2sp.org/tlog-cosignature, “ML-DSA-44
 * signed message”), for a whole tree.
 * @param name name of the signing key
 * @param time seconds since 1970, or 0 for no statement about the time
 * @returns null if a name is longer than 255 bytes
 */
export function subtreeMessage(
  name: string,
  time: number | bigint,
  { origin, size, root }: Pick<Checkpoint, 'origin' | 'size' | 'root'>,
): Uint8Array | null {
  const [cosigner, log] = [utf8(name), utf8(origin)];
  if (cosigner.length > 255 || log.length > 255) return null;
  return concatBytes(
    SUBTREE_LABEL,
    ...[Uint8Array.of(cosigner.length), cosigner, uint64(time)],
    ...[Uint8Array.of(log.length), log, uint64(0), uint64(size), root],
  );
}

/**
 * The line of a cosignature, or of a ledger's signature with ML-DSA-44, including its line feed.
 * @param time seconds since 1970
 * @param signature the signature over `cosignatureMessage` or `subtreeMessage`
 */
export function formatCosignatureLine(
  { name, publicKey, type }: Omit<VerifierKey, 'keyId'>,
  time: number,
  signature: Uint8Array,
): string {
  return `\u2014 ${name} ${toBase64(concatBytes(noteKeyId(name, publicKey, type), uint64(time), signature))}\n`;
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
 * @param line a line that names this key
 * @returns the time that the witness states, or null if the cosignature is invalid
 */
export async function verifyCosignature(noteText: string, line: NoteSignature, key: VerifierKey): Promise<Date | null> {
  const timed = readTimedSignature(line.signature);
  // The time of a checkpoint's cosignature is never zero (c2sp.org/tlog-witness).
  if (timed === null || timed.seconds === 0n || timed.seconds > LAST_SECOND) return null;
  const { seconds, signature } = timed;
  const isSigned =
    key.type === SIGNATURE_TYPES.mlDsa
      ? isSubtreeSigned(noteText, key, timed)
      : await verifyEd25519(key.publicKey, cosignatureMessage(seconds, noteText), signature);
  return isSigned ? new Date(Number(seconds) * 1000) : null;
}

/** A signature with the time that it states (c2sp.org/tlog-cosignature, `timestamped_signature`). */
export interface TimedSignature {
  /** Seconds since 1970. */
  readonly seconds: bigint;
  readonly signature: Uint8Array;
}

/** @returns null if the bytes are too few for the time */
export function readTimedSignature(bytes: Uint8Array): TimedSignature | null {
  if (bytes.length <= TIME_BYTES) return null;
  const seconds = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0);
  return { seconds, signature: bytes.slice(TIME_BYTES) };
}

/**
 * Whether a key of ML-DSA-44 signed origin, size and root of a checkpoint. Extension lines are not
 * covered.
 */
export function isSubtreeSigned(
  noteText: string,
  { name, publicKey }: VerifierKey,
  { seconds, signature }: TimedSignature,
): boolean {
  const checkpoint = parseCheckpoint(noteText);
  const message = checkpoint === null ? null : subtreeMessage(name, seconds, checkpoint);
  return message !== null && verifyMlDsa44(publicKey, message, signature);
}
