import { ConsistencyLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { verifyConsistency } from '../../../schemas/merkle/verify-consistency.js';
import type { PackageFiles } from '../files/package-files.js';
import { finding } from '../findings/finding.js';
import { proofProblem } from '../findings/proof-problem.js';
import type { Checkpoints } from './checkpoints.js';

/**
 * Verifies that every checkpoint extends the one before it (RFC 9162 §2.1.4).
 * @returns the sizes that an unbroken chain of proofs connects to the newest checkpoint, including its own
 */
export async function verifyCheckpointConsistency(
  files: PackageFiles,
  checkpoints: Checkpoints,
): Promise<ReadonlySet<number>> {
  const { findings } = files;
  // If a note is missing, the checkpoints around it become neighbours.
  const missingNote = findings.outcomeOf('ledger.checkpoint') === 'fail' ? 'ledger.checkpoint' : null;
  const sizes = [...checkpoints.keys()];
  const following = new Map(sizes.map((size, i) => [size, sizes[i + 1]]));
  const proved = new Set<number>();
  for await (const { line, value } of files.lines(PACKAGE_FILES.consistency, ConsistencyLine, 'ledger.consistency')) {
    const at = { file: PACKAGE_FILES.consistency, line };
    const first = checkpoints.get(value.from);
    const second = checkpoints.get(value.to);
    const areNeighbours = first !== undefined && second !== undefined && following.get(value.from) === value.to;
    if (!areNeighbours || proved.has(value.from)) {
      findings.fail('ledger.consistency', finding('consistency-misplaced'), at, missingNote);
      continue;
    }
    const verdict = verifyConsistency(value.from, value.to, first.checkpoint.root, second.checkpoint.root, value.path);
    if (verdict.ok) {
      findings.pass('ledger.consistency');
      proved.add(value.from);
    } else {
      findings.fail(
        'ledger.consistency',
        finding('checkpoint-not-extended', { to: value.to, from: value.from, reason: proofProblem(verdict.reason) }),
        at,
      );
    }
  }
  const tied = new Set<number>();
  let isUnbroken = true;
  for (const [i, size] of [...sizes.entries()].reverse()) {
    isUnbroken &&= i === sizes.length - 1 || proved.has(size);
    if (isUnbroken) tied.add(size);
    if (i < sizes.length - 1 && !proved.has(size)) {
      const message = finding('consistency-missing', { size });
      findings.open('ledger.consistency', message, { file: PACKAGE_FILES.note(size) }, missingNote);
    }
  }
  if (sizes.length < 2) findings.skip('ledger.consistency', finding('fewer-than-two-checkpoints'));
  return tied;
}
