import type { BatchHeader, RunPlace } from '../../../schemas/evidence/batch-header.js';
import { firstCovered, levelOf } from '../../../schemas/evidence/roll-ups.js';

/** A run of a stream in a leaf of the ledger tree. */
export interface PlacedRun {
  /** Number of the leaf. */
  readonly number: number;
  readonly first: number;
  readonly last: number;
}

/** A statement that a run makes: the leaves up to `number` have `count` events of the stream. */
interface Counted<T> {
  readonly number: number;
  readonly count: number;
  readonly run: T;
}

/**
 * Finds two runs of one stream that contradict each other. A run states how many events of the stream are before its
 * period, and how many up to its end. Along the ledger these counts never decrease, and each leaf has exactly one. A
 * run therefore lies within those of the roll-ups over it, regardless of their levels.
 * @returns null if all runs agree
 */
export function contradictoryRuns<T extends PlacedRun>(runs: readonly T[]): readonly [T, T] | null {
  const counts = runs
    .flatMap((run): Counted<T>[] => [
      { number: firstCovered(run.number) - 1, count: run.first, run },
      { number: run.number, count: run.last + 1, run },
    ])
    .sort((a, b) => a.number - b.number);
  for (const [i, counted] of counts.entries()) {
    const before = counts[i - 1];
    if (before === undefined) continue;
    const isRight = before.number === counted.number ? before.count === counted.count : before.count <= counted.count;
    if (!isRight) return [before.run, counted.run];
  }
  return null;
}

/**
 * Describes how two runs of a stream contradict each other, or null if they do not.
 * @param key key of the stream, in hex
 */
export function runsProblem(key: string, one: PlacedRun, other: PlacedRun): string | null {
  if (contradictoryRuns([one, other]) === null) return null;
  return `states runs of the stream with the key ${key} that contradict each other: ${runText(one)}, and ${runText(other)}`;
}

function runText({ number, first, last }: PlacedRun): string {
  return `revisions ${first} to ${last} in ${levelOf(number) === 0 ? 'batch' : 'roll-up'} ${number}`;
}

/** Whether a run is not empty, and is within its batch. */
export function isPossible({ start, first, last }: RunPlace, { count }: BatchHeader): boolean {
  return first <= last && start + last - first < count;
}
