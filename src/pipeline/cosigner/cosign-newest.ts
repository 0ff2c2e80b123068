import { keyLineOf } from '../../../schemas/evidence/signed-note.js';
import { consistencyRanges } from '../../../schemas/merkle/proofs.js';
import type { Queryable } from '../../platform/database/pool.js';
import { readTreeProof } from '../ledger/read-tree.js';
import { submitCheckpoint, type WitnessAnswer, type WitnessConnection, WitnessFailure } from './submit-checkpoint.js';
import {
  readSubmission,
  readWitnessSize,
  type StampedCheckpoint,
  storeCosignatures,
  storeWitnessSize,
} from './witness-store.js';

/** Most sizes that a witness may name in a row (409) before that counts as a failure. */
const MAX_CORRECTIONS = 3;

/**
 * Obtains a cosignature over the newest stamped checkpoint.
 * @param db in the role `consent_ledger_worker`
 * @returns the sizes that the witness cosigned, smallest first; empty if nothing was due
 * @throws WitnessFailure, HttpFailure
 */
export async function cosignNewest(
  db: Queryable,
  witness: WitnessConnection,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const { name } = witness;
  const keys = witness.keys.map(keyLineOf);
  const cosigned: number[] = [];
  for (let corrections = 0; ; ) {
    const size = await readWitnessSize(db, name);
    const next = await readSubmission(db, keys);
    if (next === null) return cosigned;
    // A witness ahead of this ledger is asked from the checkpoint's own size, and answers its size.
    const answer = await submitFrom(db, witness, next, Math.min(size, next.size), signal);
    if (answer.outcome === 'cosigned') {
      await storeCosignatures(db, name, next.size, answer.cosignatures);
      cosigned.push(next.size);
    } else if (answer.outcome === 'unknown-key') {
      throw new WitnessFailure(
        'does not know the key of this ledger (HTTP 403): ask its operator to add the lines of /checkpoints/ledger.vkey',
      );
    } else if (answer.outcome === 'other-root') {
      throw new WitnessFailure('has cosigned a ledger that this one does not continue (HTTP 422)');
    } else {
      await adopt(db, name, answer.size, next.size);
      corrections += 1;
      if (corrections > MAX_CORRECTIONS) throw new WitnessFailure('names another size each time it is asked');
    }
  }
}

/** Submits a checkpoint with the proof from a smaller size. */
export async function submitFrom(
  db: Queryable,
  witness: WitnessConnection,
  checkpoint: StampedCheckpoint,
  oldSize: number,
  signal: AbortSignal,
): Promise<WitnessAnswer> {
  const proof = await readTreeProof(db, consistencyRanges(oldSize, checkpoint.size));
  if (proof === null) throw new Error('a node of the ledger tree is missing');
  return submitCheckpoint(witness, checkpoint, { oldSize, proof }, signal);
}

async function adopt(db: Queryable, name: string, size: number, newest: number): Promise<void> {
  if (size > newest) {
    throw new WitnessFailure(
      `has cosigned ${size} batches, and this ledger has ${newest} in its newest checkpoint: was the ledger restored from a backup?`,
    );
  }
  await storeWitnessSize(db, name, size);
}
