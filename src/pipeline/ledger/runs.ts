import type { RevisionRun, StreamKeyOf } from '../../../schemas/evidence/batch-header.js';
import type { SealedLeaf } from './sealed-leaf.js';

/** Consecutive revisions of one stream among the leaves of a Merkle batch: stream, first, last. */
export type Run = readonly [stream: string, first: number, last: number];

/** Sorts leaves as a Merkle batch holds them: by stream key, then by revision. */
export function sortedLeaves(leaves: readonly SealedLeaf[], keyOf: StreamKeyOf): readonly SealedLeaf[] {
  return [...leaves].sort((a, b) => {
    if (a.stream === b.stream) return a.revision - b.revision;
    return keyOf(a.stream) < keyOf(b.stream) ? -1 : 1;
  });
}

/** Returns the leaves of a batch as runs, in order. */
export function runsOf(leaves: readonly Pick<SealedLeaf, 'stream' | 'revision'>[]): Run[] {
  const runs: [string, number, number][] = [];
  for (const { stream, revision } of leaves) {
    const current = runs.at(-1);
    if (current?.[0] === stream && current[2] === revision - 1) current[2] = revision;
    else runs.push([stream, revision, revision]);
  }
  return runs;
}

/** Whether runs are those of a Merkle batch: not empty, and one for each stream, sorted by key. */
export function areBatchRuns(runs: readonly Run[], keyOf: StreamKeyOf): boolean {
  let before = '';
  for (const [stream, first, last] of runs) {
    const key = keyOf(stream);
    if (last < first || key <= before) return false;
    before = key;
  }
  return true;
}

/** The runs with names. */
export function namedRuns(runs: readonly Run[]): RevisionRun[] {
  return runs.map(([stream, first, last]) => ({ stream, first, last }));
}

export function countOf(runs: readonly Run[]): number {
  return runs.reduce((sum, [, first, last]) => sum + last - first + 1, 0);
}
