import { asciiBytes, BASE64URL, type Cursor } from '../json/cursor.js';
import { type ConsentEntry, consentEntryAt, consentsStreamAt } from './consent-entry.js';
import type { EntryLine } from './package-lines.js';

/** A line of `entries.ndjson` with a consent. */
export interface ConsentLine {
  readonly source: EntryLine;
  readonly entry: ConsentEntry;
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

/**
 * Reads a line with a consent as exporters write it: much faster than by `EntryLine`, which stays the definition (see `consentEntryAt`).
 * @returns null where the line is not recognised: it may be right all the same
 */
export function readConsentLine(cursor: Cursor): ConsentLine | null {
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
  // The quotation marks around it included, it is a JSON string.
  const text: unknown = JSON.parse(cursor.text.slice(start - 1, end + 1));
  if (typeof text !== 'string') return null;
  const source = { entry: text, batch, index, disclosures };
  return { source: erased === undefined ? source : { ...source, erased }, entry };
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
