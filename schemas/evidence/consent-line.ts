import { sha256Hex } from '../crypto/digest.js';
import { asciiBytes, BASE64URL, type Cursor } from '../json/cursor.js';
import { type ConsentEntry, consentEntryAt, consentsStreamAt } from './consent-entry.js';
import type { EntryLine } from './package-lines.js';

/** A line of `entries.ndjson` with a consent. */
export interface ConsentLine {
  readonly source: Omit<EntryLine, 'entry'>;
  readonly entry: ConsentEntry;
  /** Leaf hash of the entry's text, in hex. */
  readonly leaf: string;
}

const BEFORE = asciiBytes('{"entry":"');
const BATCH = asciiBytes('","batch":');
const INDEX = asciiBytes(',"index":');
const DISCLOSURES = asciiBytes(',"disclosures":[');
const CLOSE_LIST = asciiBytes(']');
const QUOTE = asciiBytes('"');
const COMMA = asciiBytes(',');
const CLOSE = asciiBytes('}');
const ERASED = asciiBytes(',"erased":{"stream":"');
const REVISION = asciiBytes('","revision":');
const CLOSE_BOTH = asciiBytes('}}');
const MOST_DISCLOSURES = 64;

const BACKSLASH = 0x5c;

/**
 * Reads a line with a consent as exporters write it: much faster than by `EntryLine`, which stays
 * the definition (see `consentEntryAt`).
 * @param scratch a buffer that is longer than the line and is overwritten
 * @returns null if the line is not recognised, although it may be valid
 */
export function readConsentLine(cursor: Cursor, scratch: Uint8Array): ConsentLine | null {
  cursor.expect(BEFORE);
  const start = cursor.at;
  const entry = consentEntryAt(cursor);
  if (entry === null) return null;
  const end = cursor.at;
  cursor.expect(BATCH);
  const batch = cursor.count();
  cursor.expect(INDEX);
  const index = cursor.count();
  cursor.expect(DISCLOSURES);
  const disclosures = disclosuresAt(cursor);
  const erased = cursor.skip(CLOSE) ? undefined : erasedAt(cursor);
  if (!cursor.isDone) return null;
  const leaf = leafOf(cursor.bytes, start, end, scratch);
  return {
    source: erased === undefined ? { batch, index, disclosures } : { batch, index, disclosures, erased },
    entry,
    leaf,
  };
}

/**
 * SHA-256(0x00 ‖ entry), in hex, of an entry within a JSON string in which nothing but quotation
 * marks is escaped.
 */
function leafOf(bytes: Uint8Array, start: number, end: number, scratch: Uint8Array): string {
  scratch[0] = 0;
  let length = 1;
  for (let at = start; at < end; at += 1) {
    const code = bytes[at] ?? 0;
    if (code === BACKSLASH) continue;
    scratch[length] = code;
    length += 1;
  }
  return sha256Hex(scratch.subarray(0, length));
}

function disclosuresAt(cursor: Cursor): string[] {
  const disclosures: string[] = [];
  if (cursor.skip(CLOSE_LIST)) return disclosures;
  do {
    cursor.expect(QUOTE);
    disclosures.push(cursor.span(BASE64URL, 0, cursor.end));
    cursor.expect(QUOTE);
  } while (!cursor.isBroken && disclosures.length < MOST_DISCLOSURES && cursor.skip(COMMA));
  cursor.expect(CLOSE_LIST);
  return disclosures;
}

function erasedAt(cursor: Cursor): EntryLine['erased'] {
  cursor.expect(ERASED);
  const stream = consentsStreamAt(cursor);
  cursor.expect(REVISION);
  const revision = cursor.count();
  cursor.expect(CLOSE_BOTH);
  return { stream, revision };
}
