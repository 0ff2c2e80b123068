import { SMALLEST_COUNT } from '../../../schemas/api/panel/statistics.js';

/** A count of a table, or why it is hidden. */
export type ShownCount = number | 'fewer_than_10' | 'not_shown';

/** Lines of a table whose sum a reader may know from elsewhere. */
export type KnownSums = 'columns' | 'rows';

/**
 * Hides the counts below 10 of a table, and as many others as it takes that none of them, by the sum of its line and
 * what is shown, can be told from any other count below 10 (complementary cell suppression).
 * @param counts rows of the table, all of one length
 */
export function withoutSmallCounts(
  counts: readonly (readonly number[])[],
  known: KnownSums,
): readonly (readonly ShownCount[])[] {
  const lines = known === 'rows' ? counts : transposed(counts);
  const shown = lines.map(withoutSmall);
  return known === 'rows' ? shown : transposed(shown);
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
