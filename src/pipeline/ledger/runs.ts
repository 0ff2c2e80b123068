import type { StreamRun } from '../../../schemas/evidence/batch-header.js';
import type { SealedLeaf } from './sealed-leaf.js';

/** Consecutive revisions of one stream among the leaves of a Merkle batch: stream, first, last. */
export type Run = readonly [stream: string, first: number, last: number];

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

/**
 * Merges the runs to one per stream, as in `streams_root`.
 * @returns null if the runs of a stream are not adjacent in revision
 */
export function mergeRuns(runs: readonly Run[]): StreamRun[] | null {
  const merged = new Map<string, StreamRun>();
  for (const [stream, first, last] of runs) {
    const before = merged.get(stream);
    if (last < first || (before !== undefined && first !== before.last + 1)) return null;
    merged.set(stream, { stream, first: before?.first ?? first, last });
  }
  return [...merged.values()];
}

export function countOf(runs: readonly Run[]): number {
  return runs.reduce((sum, [, first, last]) => sum + last - first + 1, 0);
}
