import { equalBytes } from '../../../schemas/crypto/encoding.js';
import type { CheckpointStampedBody } from '../../../schemas/events/ledger.js';
import { parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import {
  parseNote,
  parseVerifierKey,
  SIGNATURE_TYPES,
  type SignedNote,
} from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../schemas/evidence/verify-note.js';
import { LedgerCorrupt } from './errors.js';
import { type AnnouncedKey, type FollowedLedger, rootAt } from './followed-ledger.js';

/**
 * Checks a time stamp of a checkpoint: both keys of the ledger must have signed its note over a root of
 * the tree, and on the first checkpoint over an announcement the announced keys too. While a checkpoint
 * has too few time stamps, each further one must be over the same note.
 * @param state at the revision of the event, before the time stamp
 * @returns the announced keys, if the checkpoint hands over to them
 * @throws LedgerCorrupt
 */
export async function handoverOf(state: FollowedLedger, body: CheckpointStampedBody): Promise<AnnouncedKey | null> {
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
  const next = keysDueAt(state, body.size);
  if (next !== null && !(await isSignedBy(note, [next.key, next.mlDsaKey])))
    throw new LedgerCorrupt(revision, 'it is over an announcement of keys that did not sign it');
  return next;
}

/** The announced keys that must sign a checkpoint of this size as well; null: none. */
export function keysDueAt({ announced }: Pick<FollowedLedger, 'announced'>, size: number): AnnouncedKey | null {
  return announced !== null && size > announced.batch ? announced : null;
}

/** Whether two verifier-key lines are one of Ed25519 and one of ML-DSA-44, in this order, of one name. */
export function areLedgerKeys(key: string, mlDsaKey: string): boolean {
  const [one, other] = [parseVerifierKey(key), parseVerifierKey(mlDsaKey)];
  const isNamed = one !== null && one.name === other?.name;
  return isNamed && one.type === SIGNATURE_TYPES.ed25519 && other.type === SIGNATURE_TYPES.mlDsa;
}

/**
 * Whether each of these keys signed a checkpoint.
 * @param lines verifier-key lines
 */
export async function isSignedBy(note: SignedNote, lines: readonly string[]): Promise<boolean> {
  const keys = lines.map((line) => parseVerifierKey(line));
  const verdicts = await Promise.all(keys.map((key) => key && verifyCheckpoint(note, key)));
  return verdicts.every((verdict) => verdict === 'signed');
}
