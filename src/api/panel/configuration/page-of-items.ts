import * as z from 'zod';
import { keyOfCursor, type Page, type PageRequest, pageOfRows } from '../page.js';

/**
 * A page of a list that is at hand as a whole, in the order of its keys.
 * @param keyOf different for each item, and as long for all
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
