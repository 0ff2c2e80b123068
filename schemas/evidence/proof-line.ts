import { fromHex } from '../crypto/encoding.js';
import { asciiBytes, type Cursor, HEX } from '../json/cursor.js';
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
 * Reads a line of a proof file as exporters write it: there is one for each record. `ProofLine` stays the definition (see `consentEntryAt`).
 * @returns null where the line is not recognised: it may be right all the same
 */
export function readProofLine(cursor: Cursor): ProofLine | null {
  cursor.expect(INDEX);
  const index = cursor.count();
  if (cursor.skip(LEAF)) {
    const leaf = fromHex(cursor.take(HEX, 64));
    cursor.expect(END);
    return cursor.isDone && leaf !== null ? { index, leaf } : null;
  }
  cursor.expect(PATH);
  const path: Uint8Array[] = [];
  if (!cursor.skip(CLOSE_LIST)) {
    do {
      cursor.expect(QUOTE);
      const hash = fromHex(cursor.take(HEX, 64));
      cursor.expect(QUOTE);
      if (hash !== null) path.push(hash);
    } while (!cursor.isBroken && path.length < MOST_HASHES && cursor.skip(COMMA));
    cursor.expect(CLOSE_LIST);
  }
  cursor.expect(CLOSE);
  return cursor.isDone ? { index, path } : null;
}
