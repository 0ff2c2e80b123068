/*
 * A checkpoint (c2sp.org/tlog-checkpoint): the ledger tree at one size. It is the text of a signed note, three lines
 * that each end with a line feed: origin, size, root in base64 (docs/evidence-format.md §7).
 *
 * - The size is a decimal without leading zeroes, at most 2^53 − 1; the root is 32 bytes of canonical base64.
 * - Of two checkpoints of an honest ledger, the smaller tree is a prefix of the larger one (RFC 9162 §2.1.4).
 *
 * For example, the ledger whose only leaf is the header of batch-header.ts; with one leaf, the root is its leaf hash:
 *
 *   ledger.example/1
 *   1
 *   HaqdfRvDeoFzeApDpY+70NrFxVnlt++cX09MOrLmwrY=
 */
import { fromBase64, toBase64 } from '../crypto/encoding.js';

/**
 * A C2SP checkpoint (c2sp.org/tlog-checkpoint): the ledger tree at one size. It is the text of a
 * signed note.
 */
export interface Checkpoint {
  /** Name of the ledger; also the name of its key. */
  readonly origin: string;
  /** Number of batches. */
  readonly size: number;
  /** Root of the ledger tree, 32 bytes. */
  readonly root: Uint8Array;
}

/** The text that is signed: origin, size and root. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`;
}

/**
 * Extension lines, which other logs may have, are ignored: `checkpointText` does not have them.
 * @returns null if the text is not a checkpoint: sizes have no leading zeroes, the root is 32 bytes
 *   of canonical base64
 */
export function parseCheckpoint(text: string): Checkpoint | null {
  if (!text.endsWith('\n')) return null;
  const [origin, size, root, ...extensions] = text.slice(0, -1).split('\n');
  if (origin === undefined || origin === '' || size === undefined || root === undefined) return null;
  if (!/^(?:0|[1-9]\d{0,15})$/.test(size) || !Number.isSafeInteger(Number(size))) return null;
  const rootBytes = fromBase64(root);
  if (rootBytes === null || rootBytes.length !== 32 || extensions.includes('')) return null;
  return { origin, size: Number(size), root: rootBytes };
}

/**
 * The first line of a manifest key's certificate: a signed note that no checkpoint can be mistaken
 * for.
 */
const MANIFEST_KEY = 'consent-ledger manifest key v1';

/** The text of the note by which the ledger's key certifies the key that signs manifests. */
export function manifestKeyText(origin: string, publicKey: Uint8Array): string {
  return `${MANIFEST_KEY}\n${origin}\n${toBase64(publicKey)}\n`;
}

/** @returns null if the text does not certify a manifest key */
export function parseManifestKeyText(text: string): { origin: string; publicKey: Uint8Array } | null {
  const [title, origin, key, end, ...rest] = text.split('\n');
  const publicKey = key === undefined ? null : fromBase64(key);
  if (title !== MANIFEST_KEY || !origin || end !== '' || rest.length > 0 || publicKey?.length !== 32) return null;
  return { origin, publicKey };
}
