import { asciiBytes, type Cursor } from '../json/cursor.js';
import type { TagLine } from './package-lines.js';
import { PERSON_TAG_BYTES } from './person-tag.js';

const INDEX = asciiBytes('{"index":');
const TAG = asciiBytes(',"tag":"');
const HASH = asciiBytes('{"hash":"');
const END = asciiBytes('"}');

/**
 * Reads a line of a tag file as exporters write it: there are several for each record. `TagLine` stays
 * the definition (see `consentEntryAt`).
 * @returns null if the line is not recognised, although it may be valid
 */
export function readTagLine(cursor: Cursor): TagLine | null {
  if (cursor.skip(HASH)) {
    const hash = cursor.hexBytes(PERSON_TAG_BYTES);
    cursor.expect(END);
    return cursor.isDone ? { hash } : null;
  }
  cursor.expect(INDEX);
  const index = cursor.count();
  cursor.expect(TAG);
  const tag = cursor.hexBytes(PERSON_TAG_BYTES);
  cursor.expect(END);
  return cursor.isDone ? { index, tag } : null;
}
