import { equalBytes } from '../../../schemas/crypto/encoding.js';
import type { CheckpointStampedBody } from '../../../schemas/events/ledger.js';
import { parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { parseNote, parseVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../schemas/evidence/verify-note.js';
import { LedgerCorrupt } from './errors.js';
import { type FollowedLedger, type KeyBridge, rootAt } from './followed-ledger.js';

/**
 * Checks a time stamp of a checkpoint: the ledger's key must have signed its note over a root of the
 * tree. A bridging checkpoint must also be signed by the new key. While a checkpoint has too few time
 * stamps, each further one must be over the same note.
 * @param state at the revision of the event, before the time stamp
 * @returns the key change, if it is one
 * @throws LedgerCorrupt
 */
export async function bridgeOf(state: FollowedLedger, body: CheckpointStampedBody): Promise<KeyBridge | null> {
  const { revision } = state;
  const note = parseNote(body.note);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  const key = state.key === null ? null : parseVerifierKey(state.key);
  if (note === null || checkpoint === null) throw new LedgerCorrupt(revision, 'its note is not a checkpoint');
  if (key === null) throw new LedgerCorrupt(revision, 'no ledger key was published before it');
  if ((await verifyCheckpoint(note, key)) !== 'signed')
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
  if (checkpoint.nextKey === null || state.key === null) return null;
  const next = parseVerifierKey(checkpoint.nextKey);
  if (next === null || next.name !== key.name || checkpoint.nextKey === state.key) {
    throw new LedgerCorrupt(revision, 'it hands over to a key that cannot follow');
  }
  if ((await verifyCheckpoint(note, next)) !== 'signed')
    throw new LedgerCorrupt(revision, 'the key that it hands over to did not sign it');
  return { key: checkpoint.nextKey, replaces: state.key };
}
