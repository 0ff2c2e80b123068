import { equalBytes } from '../../../schemas/crypto/encoding.js';
import type { CheckpointStampedBody } from '../../../schemas/events/ledger.js';
import { parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import {
  parseNote,
  parseVerifierKey,
  SIGNATURE_TYPES,
  type SignedNote,
} from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint, verifyNote } from '../../../schemas/evidence/verify-note.js';
import { LedgerCorrupt } from './errors.js';
import { type FollowedLedger, type KeyBridge, rootAt } from './followed-ledger.js';

/**
 * Checks a time stamp of a checkpoint: both keys of the ledger must have signed its note over a root of
 * the tree. On a bridging checkpoint, the old keys and the new ones must have signed the whole text too.
 * While a checkpoint has too few time stamps, each further one must be over the same note.
 * @param state at the revision of the event, before the time stamp
 * @returns the key change, if it is one
 * @throws LedgerCorrupt
 */
export async function bridgeOf(state: FollowedLedger, body: CheckpointStampedBody): Promise<KeyBridge | null> {
  const { revision, key, mlDsaKey } = state;
  const note = parseNote(body.note);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (note === null || checkpoint === null) throw new LedgerCorrupt(revision, 'its note is not a checkpoint');
  if (key === null || mlDsaKey === null) throw new LedgerCorrupt(revision, 'no ledger key was published before it');
  if (!(await isSignedBy(note, [key, mlDsaKey])))
    throw new LedgerCorrupt(revision, 'its note is not signed by the ledger');
  if (checkpoint.size !== body.size || body.size > state.size || body.size <= (state.stamped?.size ?? 0)) {
    throw new LedgerCorrupt(revision, `a checkpoint of size ${body.size} does not belong here`);
  }
  const { pending } = state;
  if (pending !== null && (pending.size !== body.size || pending.note !== body.note)) {
    throw new LedgerCorrupt(revision, `checkpoint ${pending.size} has too few time stamps, and this is another one`);
  }
  if (body.number !== (pending?.tokens.length ?? 0) + 1) {
    throw new LedgerCorrupt(revision, `time stamp ${body.number} of checkpoint ${body.size} does not belong here`);
  }
  const root = rootAt(state.tree, body.size);
  if (root === null || !equalBytes(checkpoint.root, root)) {
    throw new LedgerCorrupt(revision, 'its root is not that of the ledger tree');
  }
  if (checkpoint.nextKeys.length === 0) return null;
  const next = nextKeysOf(checkpoint.origin, checkpoint.nextKeys);
  if (next === null || next.key === key || next.mlDsaKey === mlDsaKey)
    throw new LedgerCorrupt(revision, 'it hands over to a key that cannot follow');
  if (!(await isSignedBy(note, [next.key, next.mlDsaKey])))
    throw new LedgerCorrupt(revision, 'the key that it hands over to did not sign it');
  if (!(await isSignedBy(note, [mlDsaKey, next.mlDsaKey], verifyNote)))
    throw new LedgerCorrupt(revision, 'a key did not sign its whole text');
  return { ...next, replaces: key };
}

/**
 * Returns the two keys to which a checkpoint hands over; null unless they are one of Ed25519 and one of
 * ML-DSA-44, in this order, of the ledger's name.
 */
export function nextKeysOf(origin: string, lines: readonly string[]): Omit<KeyBridge, 'replaces'> | null {
  const [key, mlDsaKey, ...more] = lines;
  const types = lines.map((line) => parseVerifierKey(line)).map((one) => (one?.name === origin ? one.type : null));
  if (key === undefined || mlDsaKey === undefined || more.length > 0) return null;
  return types[0] === SIGNATURE_TYPES.ed25519 && types[1] === SIGNATURE_TYPES.mlDsa ? { key, mlDsaKey } : null;
}

/**
 * Whether each of these keys signed a checkpoint.
 * @param lines verifier-key lines
 * @param verify how a signature is looked for
 */
export async function isSignedBy(
  note: SignedNote,
  lines: readonly string[],
  verify: typeof verifyCheckpoint = verifyCheckpoint,
): Promise<boolean> {
  const keys = lines.map((line) => parseVerifierKey(line));
  const verdicts = await Promise.all(keys.map((key) => key && verify(note, key)));
  return verdicts.every((verdict) => verdict === 'signed');
}
