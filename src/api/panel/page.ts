import * as z from 'zod';
import { InputTime } from '../../../schemas/api/common.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { parseStrictJson, StrictJsonError } from '../../../schemas/json/strict-json.js';

/** Start and maximum length of a page of a list. */
export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A page of rows and the cursor of the next, or null if there is none. */
export interface Page<T> {
  readonly data: T[];
  readonly next_cursor: string | null;
}

/** The key of lists that are ordered by time: the time of the last item, in milliseconds, and its id. */
export const TimeAndId = z.tuple([InputTime, z.uuid()]);

/**
 * Makes a page of rows that were read in order. The caller reads one more than the limit, which shows whether more
 * follow.
 * @param keyOf key after which the next page begins: strings and numbers, in the order of the
 *   list
 */
export function pageOfRows<Row, T>(
  { limit }: PageRequest,
  rows: readonly Row[],
  keyOf: (row: Row) => readonly (string | number)[],
  shown: (row: Row) => T,
): Page<T> {
  const kept = rows.slice(0, limit);
  const last = kept.at(-1);
  const isMore = rows.length > limit && last !== undefined;
  return { data: kept.map(shown), next_cursor: isMore ? encodeCursor(keyOf(last)) : null };
}

/**
 * Decodes a cursor. It is not secret and grants nothing: every list is restricted to its tenant, whatever its cursor
 * says.
 * @returns null for the first page
 * @throws ApiError VALIDATION_ERROR if it was not made for this list
 */
export function keyOfCursor<T>(schema: z.ZodType<T>, { cursor }: PageRequest): T | null {
  if (cursor === undefined) return null;
  const parsed = schema.safeParse(decode(cursor));
  if (parsed.success) return parsed.data;
  throw badCursor();
}

/**
 * Returns a page of a list that is in memory as a whole, in the order of its keys.
 * @param keyOf returns a key that is unique to the item; all keys have the same length
 * @throws ApiError VALIDATION_ERROR
 */
export function pageOfItems<T>(page: PageRequest, items: readonly T[], keyOf: (item: T) => readonly string[]): Page<T> {
  const after = keyOfCursor(z.array(z.string()), page);
  const rest = items
    .filter((item) => after === null || compare(keyOf(item), after) > 0)
    .sort((a, b) => compare(keyOf(a), keyOf(b)));
  return pageOfRows(page, rest, keyOf, (item) => item);
}

function compare(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? '';
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}

/** Encodes the cursor that `keyOfCursor` reads. */
export function encodeCursor(key: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(key), 'utf8').toString('base64url');
}

function decode(cursor: string): unknown {
  try {
    return parseStrictJson(Buffer.from(cursor, 'base64url'));
  } catch (error) {
    if (error instanceof StrictJsonError) throw badCursor();
    throw error;
  }
}

function badCursor(): ApiError {
  return new ApiError('VALIDATION_ERROR', undefined, {
    errors: [{ field: 'cursor', message: 'is not a next_cursor of this list' }],
  });
}
