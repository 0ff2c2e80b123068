import { decodeUtf8 } from '../crypto/encoding.js';
import type { JsonValue } from './json-value.js';

export type StrictJsonProblem =
  | 'invalid-utf8'
  | 'syntax'
  | 'duplicate-key'
  | 'too-deep'
  | 'number-out-of-range'
  | 'lone-surrogate'
  | 'null-character';

/** JSON that this project refuses: malformed, ambiguous, or not storable byte for byte in every stage. */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError';
  constructor(
    readonly problem: StrictJsonProblem,
    message: string,
  ) {
    super(message);
  }
}

/** Containers within containers, the outermost counted (design §1.1). */
export const MAX_JSON_DEPTH = 32;

/**
 * Parses JSON as RFC 8259 and I-JSON (RFC 7493) both allow it: no duplicate member names, no lone surrogates, no U+0000, numbers finite and
 * integers within ±(2^53 − 1), nesting at most `maxDepth`. A byte-order mark is a syntax error.
 *
 * Native parsing does the work; one pass over the text counts members and measures depth first. A duplicate name makes the parsed value hold
 * fewer members than the text has, so comparing the counts finds it without a parser of our own.
 * @throws StrictJsonError
 */
export function parseStrictJson(input: Uint8Array | string, maxDepth: number = MAX_JSON_DEPTH): JsonValue {
  const text = typeof input === 'string' ? input : decodeUtf8(input);
  if (text === null) throw new StrictJsonError('invalid-utf8', 'The text is not valid UTF-8.');
  const outline = outlineOf(text, maxDepth);
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    throw new StrictJsonError('syntax', 'The text is not valid JSON.');
  }
  const checkStrings = outline.hasUnicodeEscape || !text.isWellFormed();
  const members = countMembers(value, checkStrings);
  if (members !== outline.members) {
    throw new StrictJsonError('duplicate-key', 'An object holds the same member name twice.');
  }
  return value;
}

interface Outline {
  members: number;
  hasUnicodeEscape: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function outlineOf(text: string, maxDepth: number): Outline {
  let depth = 0;
  let members = 0;
  let hasUnicodeEscape = false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      for (i += 1; i < text.length; i += 1) {
        const inner = text.charCodeAt(i);
        if (inner === QUOTE) break;
        if (inner === BACKSLASH) {
          i += 1;
          if (text.charCodeAt(i) === 0x75) hasUnicodeEscape = true;
        }
      }
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > maxDepth) throw new StrictJsonError('too-deep', `The nesting is deeper than ${maxDepth} levels.`);
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    } else if (code === 0x3a) {
      members += 1;
    } else if ((code >= 0x30 && code <= 0x39) || code === 0x2d) {
      i = checkNumber(text, i);
    }
  }
  return { members, hasUnicodeEscape };
}

/** Judges the number that starts at `start`, and returns the index of its last character. */
function checkNumber(text: string, start: number): number {
  let end = start + 1;
  let isInteger = true;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code >= 0x30 && code <= 0x39) continue;
    if (code === 0x2e || code === 0x65 || code === 0x45) isInteger = false;
    else if (code !== 0x2b && code !== 0x2d) break;
  }
  if (!isInteger || end - start > 15) {
    const value = Number(text.slice(start, end));
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      throw new StrictJsonError('number-out-of-range', 'A number lies outside what I-JSON can carry exactly.');
    }
  }
  return end - 1;
}

function countMembers(value: JsonValue, checkStrings: boolean): number {
  if (typeof value === 'string') {
    if (checkStrings) checkString(value);
    return 0;
  }
  if (value === null || typeof value !== 'object') return 0;
  if (Array.isArray(value)) {
    let sum = 0;
    for (const item of value) sum += countMembers(item, checkStrings);
    return sum;
  }
  let sum = 0;
  for (const name of Object.keys(value)) {
    if (checkStrings) checkString(name);
    const member = value[name];
    sum += 1 + (member === undefined ? 0 : countMembers(member, checkStrings));
  }
  return sum;
}

function checkString(text: string): void {
  if (!text.isWellFormed()) throw new StrictJsonError('lone-surrogate', 'A string holds a lone surrogate.');
  if (text.includes('\u0000')) throw new StrictJsonError('null-character', 'A string holds the character U+0000.');
}
