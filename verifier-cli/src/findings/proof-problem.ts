import type { ProofProblem } from '../../../schemas/merkle/verify-inclusion.js';
import { type Finding, finding } from './finding.js';
import type { FindingCode } from './finding-texts.js';

const CODES = {
  'the path does not lead to the root': 'path-to-other-root',
  'the index and the size must be integers below 2^53': 'index-out-of-range',
  'the index is not below the size': 'index-beyond-size',
  'a hash is not 32 bytes long': 'hash-other-length',
  'the path is too long': 'path-too-long',
  'the path is too short': 'path-too-short',
  'the sizes must be integers below 2^53': 'sizes-out-of-range',
  'the first size is larger than the second': 'sizes-decrease',
  'the first size is 0': 'first-size-zero',
  'the path must be empty': 'path-not-empty',
  'the two checkpoints have one size but different roots': 'roots-differ',
  'the path is empty': 'path-empty',
  'the path does not lead to the first root': 'path-to-other-first-root',
  'the path does not lead to the second root': 'path-to-other-second-root',
} as const satisfies Readonly<Record<ProofProblem, FindingCode>>;

/** Why a Merkle proof is refused, as a finding. */
export function proofProblem(reason: ProofProblem): Finding {
  return finding(CODES[reason]);
}
