import { equalBytes, fromHex, toHex } from '../../../../schemas/crypto/encoding.js';
import type { AddCheckpoint } from '../../../../schemas/evidence/add-checkpoint.js';
import type { Checkpoint } from '../../../../schemas/evidence/checkpoint.js';
import type { SignedNote, VerifierKey } from '../../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../../schemas/evidence/verify-note.js';
import { emptyRoot } from '../../../../schemas/merkle/hashing.js';
import { verifyConsistency } from '../../../../schemas/merkle/verify-consistency.js';
import type { OriginState } from './state.js';

/** A well-formed submission. */
export interface Submission extends AddCheckpoint {
  readonly signed: SignedNote;
  readonly checkpoint: Checkpoint;
}

/** The decision of a witness: what to store before it cosigns, or the answer (c2sp.org/tlog-witness). */
export type Decision =
  | { readonly status: 200; readonly state: OriginState }
  | { readonly status: 409; readonly size: number }
  | { readonly status: 400 | 403 | 422; readonly reason: string };

/**
 * Decides on a submission, in the order of c2sp.org/tlog-witness.
 * @param keys the keys of this origin that the witness trusts
 * @param known state of this origin, or null if no checkpoint was cosigned
 */
export async function decide(
  { oldSize, proof, signed, checkpoint }: Submission,
  keys: readonly VerifierKey[],
  known: OriginState | null,
): Promise<Decision> {
  const { origin, size, root } = checkpoint;
  const before = known ?? { v: 1, origin, size: 0, root: toHex(emptyRoot()) };
  const unsigned = await signatureProblem(signed, keys);
  if (unsigned !== null) return { status: 403, reason: unsigned };
  if (oldSize > size) return { status: 400, reason: 'the old size is larger than the checkpoint' };
  if (oldSize !== before.size) return { status: 409, size: before.size };
  if (size === 0 && !equalBytes(root, emptyRoot()))
    return { status: 422, reason: 'the root is not that of an empty tree' };
  const problem = inconsistency(before, checkpoint, proof);
  if (problem !== null) return { status: 422, reason: problem };
  return { status: 200, state: { v: 1, origin, size, root: toHex(root) } };
}

function inconsistency(before: OriginState, { size, root }: Checkpoint, proof: readonly Uint8Array[]): string | null {
  if (before.size === 0) return proof.length === 0 ? null : 'the proof from size 0 must be empty';
  const verdict = verifyConsistency(before.size, size, fromHex(before.root) ?? new Uint8Array(), root, proof);
  return verdict.ok ? null : verdict.reason;
}

/** Describes why no trusted key signed a checkpoint, or null if one did. */
async function signatureProblem(note: SignedNote, keys: readonly VerifierKey[]): Promise<string | null> {
  const verdicts = await Promise.all(keys.map((key) => verifyCheckpoint(note, key)));
  if (verdicts.includes('bad-signature')) return 'a signature by a key of this ledger is invalid';
  if (verdicts.includes('signed')) return null;
  return (
    'no key of this ledger that the witness trusts signed the checkpoint: if the ledger changed its keys, ' +
    'the operator of the witness starts it with the new ones (--ledger-key)'
  );
}
