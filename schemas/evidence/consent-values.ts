import { type Cursor, HEX, within } from '../json/cursor.js';

const QUOTE = within('"');
const NULL = within('null');

/** A value in quotation marks, or null. */
export function nullOr<T>(cursor: Cursor, take: (cursor: Cursor) => T): T | null {
  if (cursor.skip(NULL)) return null;
  cursor.expect(QUOTE);
  const value = take(cursor);
  cursor.expect(QUOTE);
  return value;
}

/** A SHA-256 in hex. */
export function takeHash(cursor: Cursor): string {
  return cursor.take(HEX, 64);
}
