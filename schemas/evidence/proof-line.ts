import { asciiBytes, type Cursor } from '../json/cursor.js';
import { HASH_LENGTH } from '../merkle/hashing.js';
import type { ProofLine } from './package-lines.js';

const INDEX = asciiBytes('{"index":');
const LEAF = asciiBytes(',"leaf":"');
const PATH = asciiBytes(',"path":[');
const END = asciiBytes('"}');
const QUOTE = asciiBytes('"');
const COMMA = asciiBytes(',');
const CLOSE_LIST = asciiBytes(']');
const CLOSE = asciiBytes('}');
const MOST_HASHES = 64;

/**
 * Reads a line of a proof file as exporters write it: there is one for each record. `ProofLine`
 * stays the definition (see `consentEntryAt`).
 * @returns null if the line is not recognised, although it may be valid
 */
export function readProofLine(cursor: Cursor): ProofLine | null {
  cursor.expect(INDEX);
  const index = cursor.count();
  if (cursor.skip(LEAF)) {
    const leaf = cursor.hexBytes(HASH_LENGTH);
    cursor.expect(END);
    return cursor.isDone ? { index, leaf } : null;
  }
  cursor.expect(PATH);
  const path: Uint8Array[] = [];
  if (!cursor.skip(CLOSE_LIST)) {
    do {
      cursor.expect(QUOTE);
      path.push(cursor.hexBytes(HASH_LENGTH));
      cursor.expect(QUOTE);
    } while (!cursor.isBroken && path.length < MOST_HASHES && cursor.skip(COMMA));
    cursor.expect(CLOSE_LIST);
  }
  cursor.expect(CLOSE);
  return cursor.isDone ? { index, path } : null;
}
