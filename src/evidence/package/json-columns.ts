import * as z from 'zod';

/** A column of `jsonColumns`. The elements are checked without a call of the schema for each. */
export const numbers = column((value): value is number => Number.isSafeInteger(value));
export const texts = column((value): value is string => typeof value === 'string');
export const textsOrNulls = column((value): value is string | null => value === null || typeof value === 'string');

function column<T>(isElement: (value: unknown) => value is T) {
  const isColumn = (value: unknown): value is T[] => Array.isArray(value) && value.every(isElement);
  return z.custom<T[]>(isColumn, 'must be a column of the expected type');
}

/**
 * Returns the columns of a statement that reads all rows as one, each column as a JSON array in the
 * order of the rows.
 * @param columns SQL expressions by name
 * @param condition on the rows that these columns are of
 */
export function jsonColumns(columns: Readonly<Record<string, string>>, condition = 'true'): string {
  return Object.entries(columns)
    .map(([name, expression]) => `coalesce(json_agg(${expression}) filter (where ${condition}), '[]') as ${name}`)
    .join(', ');
}

/** An element of a column. @throws RangeError if the column is shorter */
export function at<T>(column: readonly T[], index: number): T {
  const value = column[index];
  if (value === undefined) throw new RangeError(`the column has no row ${index}`);
  return value;
}
