import { SMALLEST_COUNT } from '../../../schemas/api/panel/statistics.js';

/** A count of a table, or why it is hidden. */
export type ShownCount = number | 'fewer_than_10' | 'not_shown';

/**
 * Hides the counts below 10 of a table, and as many others of their columns as it takes that none of them can be told
 * from another count below 10 by the sum of its column and what is shown (complementary cell suppression).
 * @param counts rows of the table, all of one length; each row counts others than the other rows
 */
export function withoutSmallCounts(counts: readonly (readonly number[])[]): readonly (readonly ShownCount[])[] {
  return transposed(transposed(counts).map(withoutSmall));
}

/**
 * The same for a table whose rows count the same consents, and so say something about each other: it is hidden as a
 * whole if it has a count below 10.
 */
export function allOrNothing(counts: readonly (readonly number[])[]): readonly (readonly ShownCount[])[] {
  const isShown = counts.flat().every((count) => count >= SMALLEST_COUNT);
  const shown = (count: number) => (count < SMALLEST_COUNT ? 'fewer_than_10' : isShown ? count : 'not_shown');
  return counts.map((row) => row.map(shown));
}

function withoutSmall(line: readonly number[]): readonly ShownCount[] {
  const small = line.filter((count) => count < SMALLEST_COUNT);
  const others = line.filter((count) => count >= SMALLEST_COUNT);
  // Of equal counts, all are hidden or none: which of them is hidden would say something.
  const ascending = [...new Set(others)].sort((one, other) => one - other);
  const firstShown = ascending.find((shown) =>
    isSafe(
      small,
      others.filter((count) => count < shown),
      shown,
    ),
  );
  const isShown = (count: number) => firstShown !== undefined && count >= firstShown;
  return line.map((count) => (count < SMALLEST_COUNT ? 'fewer_than_10' : isShown(count) ? count : 'not_shown'));
}

/**
 * Whether each small count could be any from 0 to 9, for a reader who knows the sum of all hidden counts, and that the
 * others among them are at least 10 and below the smallest one shown.
 */
function isSafe(small: readonly number[], others: readonly number[], smallestShown: number): boolean {
  if (small.length === 0) return true;
  const largestSmall = SMALLEST_COUNT - 1;
  const sum = [...small, ...others].reduce((one, other) => one + other, 0);
  const least = others.length * SMALLEST_COUNT;
  const most = (small.length - 1) * largestSmall + others.length * (smallestShown - 1);
  return sum - least >= largestSmall && sum <= most;
}

function transposed<T>(rows: readonly (readonly T[])[]): readonly (readonly T[])[] {
  return (rows[0] ?? []).map((_, place) => rows.flatMap((row) => row.slice(place, place + 1)));
}
