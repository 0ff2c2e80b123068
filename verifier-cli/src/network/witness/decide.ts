import { equalBytes, fromHex, toHex } from '../../../../schemas/crypto/encoding.js';
import type { AddCheckpoint } from '../../../../schemas/evidence/add-checkpoint.js';
import type { Checkpoint } from '../../../../schemas/evidence/checkpoint.js';
import {
  keyLineOf,
  parseVerifierKey,
  type SignedNote,
  type VerifierKey,
} from '../../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../../schemas/evidence/verify-note.js';
import { emptyRoot } from '../../../../schemas/merkle/hashing.js';
import { verifyConsistency } from '../../../../schemas/merkle/verify-consistency.js';
import { isHandedOver } from '../../ledger/bridges.js';
import type { OriginState } from './state.js';

/** A submission whose form is right. */
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
 * Decides on a submission, in the order of c2sp.org/tlog-witness. A checkpoint that changes the
 * ledger's key (docs/evidence-format.md §8) makes the new key trusted and retires the old one.
 * @param given keys of this origin that the operator of the witness trusts
 * @param known state of this origin; null if no checkpoint was cosigned
 */
export async function decide(
  { oldSize, proof, signed, checkpoint }: Submission,
  given: readonly VerifierKey[],
  known: OriginState | null,
): Promise<Decision> {
  const { origin, size, root } = checkpoint;
  const before = known ?? { v: 1, origin, size: 0, root: toHex(emptyRoot()), successors: [], retired: [] };
  const keys = await keysAfter(signed, checkpoint, given, before);
  if (typeof keys === 'string') return { status: 403, reason: keys };
  if (oldSize > size) return { status: 400, reason: 'the old size is larger than the checkpoint' };
  if (oldSize !== before.size) return { status: 409, size: before.size };
  if (size === 0 && !equalBytes(root, emptyRoot()))
    return { status: 422, reason: 'the root is not that of an empty tree' };
  const problem = inconsistency(before, checkpoint, proof);
  if (problem !== null) return { status: 422, reason: problem };
  return { status: 200, state: { v: 1, origin, size, root: toHex(root), ...keys } };
}

function inconsistency(before: OriginState, { size, root }: Checkpoint, proof: readonly Uint8Array[]): string | null {
  if (before.size === 0) return proof.length === 0 ? null : 'the proof from size 0 must be empty';
  const verdict = verifyConsistency(before.size, size, fromHex(before.root) ?? new Uint8Array(), root, proof);
  return verdict.ok ? null : verdict.reason;
}

type Keys = Pick<OriginState, 'successors' | 'retired'>;

/** @returns the keys after this checkpoint; a text if no trusted key signed it */
async function keysAfter(
  note: SignedNote,
  { origin, nextKeys }: Checkpoint,
  given: readonly VerifierKey[],
  { successors, retired }: OriginState,
): Promise<Keys | string> {
  const lines = new Set([...given.map(keyLineOf), ...successors]);
  const trusted = parsed([...lines].filter((line) => !retired.includes(line)));
  const verdicts = await Promise.all(trusted.map((key) => verifyCheckpoint(note, key)));
  if (verdicts.includes('bad-signature')) return 'a signature by a key of this ledger is invalid';
  const signers = trusted.filter((_, i) => verdicts[i] === 'signed');
  if (signers.length === 0) return 'no trusted key of this ledger signed the checkpoint';
  if (nextKeys.length === 0) return { successors, retired };
  const next = parsed(nextKeys);
  if (next.some(({ name }) => name !== origin) || nextKeys.some((line) => retired.includes(line)))
    return 'the next key cannot follow the key of this ledger';
  if (!(await isHandedOver(note, signers))) return 'a key of this ledger did not sign the change of the key';
  if (!(await isHandedOver(note, next))) return 'the next key did not sign the checkpoint';
  return {
    successors: [...new Set([...successors, ...nextKeys])],
    retired: [...new Set([...retired, ...signers.map(keyLineOf).filter((line) => !nextKeys.includes(line))])],
  };
}

function parsed(lines: readonly string[]): readonly VerifierKey[] {
  return lines.map((line) => parseVerifierKey(line)).filter((key) => key !== null);
}
