/*
 * Every 128th leaf of the ledger tree is a roll-up: it commits to the streams and the person tags of the 127 leaves
 * before it, and every 16,384th to those of the 16,383 before it. A proof that something is in no batch of a long range
 * needs one step for each roll-up instead of one for each batch. Which leaves are roll-ups follows from their numbers
 * alone, so none can be left out or moved.
 */

/** 0: a batch. 1, 2: a roll-up. */
export type Level = 0 | 1 | 2;

/** Number of leaves of the ledger tree in the period of a roll-up, including its own, by level. */
export const PERIODS = { 1: 128, 2: 16_384 } as const;

/** Returns the level of the ledger-tree leaf of this number: 0 for a batch, 1 or 2 for a roll-up. */
export function levelOf(number: number): Level {
  if ((number + 1) % PERIODS[2] === 0) return 2;
  return (number + 1) % PERIODS[1] === 0 ? 1 : 0;
}

/** Number of the first leaf in the period of the leaf `number`. For a batch, this is its own number. */
export function firstCovered(number: number): number {
  const level = levelOf(number);
  return level === 0 ? number : number + 1 - PERIODS[level];
}

/** The numbers of the roll-ups below `size` whose periods include a batch. */
export function rollUpsOver(batch: number, size: number): readonly number[] {
  const numbers = ([1, 2] as const).map(
    (level) => Math.floor(batch / PERIODS[level]) * PERIODS[level] + PERIODS[level] - 1,
  );
  return [...new Set(numbers)].filter((number) => number < size);
}

/**
 * Returns whether the leaf of a number is in the cover of a checkpoint, that is, no larger period below `size` includes
 * it.
 */
export function isInCover(number: number, size: number): boolean {
  return number < size && rollUpsOver(number, size).every((over) => over === number);
}

/**
 * Yields the numbers, in order, of the fewest leaves of the ledger tree that together cover every batch below `size`:
 * roll-ups whose period is complete, then batches.
 */
export function* coverOf(size: number): Generator<number, void> {
  let next = 0;
  for (const level of [2, 1] as const) {
    for (; next + PERIODS[level] <= size; next += PERIODS[level]) yield next + PERIODS[level] - 1;
  }
  for (; next < size; next += 1) yield next;
}
