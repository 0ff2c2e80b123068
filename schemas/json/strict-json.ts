import { decodeUtf8 } from '../crypto/encoding.js';
import type { JsonValue } from './json-value.js';

export type StrictJsonProblem =
  | 'invalid-utf8'
  | 'syntax'
  | 'duplicate-key'
  | 'too-deep'
  | 'too-many-values'
  | 'number-out-of-range'
  | 'lone-surrogate'
  | 'null-character'
  | 'forbidden-name';

/**
 * JSON that this project refuses: malformed, ambiguous, or not storable byte for byte in every
 * stage.
 */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError';
  constructor(
    readonly problem: StrictJsonProblem,
    message: string,
    /** Names and indexes that lead to a number that is out of range, or null for other errors. */
    readonly path: readonly string[] | null = null,
  ) {
    super(message);
  }
}

/**
 * Which numbers are accepted. `held` accepts numbers that a double represents to the last digit, or the 17 digits that
 * other languages write for a double. `shortest` accepts numbers whose value equals the shortest text of their double,
 * as evidence requires (docs/evidence-format.md §2).
 */
export type ReadNumbers = 'held' | 'shortest';

/** Maximum nesting of containers, including the outermost (docs/http-api.md, “Bodies”). */
export const MAX_JSON_DEPTH = 32;
/** Maximum number of members, elements and containers of one text. */
export const MAX_JSON_VALUES = 100_000;

/**
 * Parses JSON as RFC 8259 and I-JSON (RFC 7493) both allow it: no duplicate member names, no lone
 * surrogates, no U+0000, numbers finite, integers within ±(2^53 − 1), no number that a double does
 * not hold to its last digit, nesting at most `maxDepth`, and at most `maxValues` values. A
 * byte-order mark is a syntax error.
 *
 * Native parsing does the work, after one pass over the text that counts members and measures depth. With a duplicate
 * name, the parsed value has fewer members than the text, so comparing the counts finds it without a parser of our own.
 * @throws StrictJsonError
 */
export function parseStrictJson(
  input: Uint8Array | string,
  maxDepth: number = MAX_JSON_DEPTH,
  maxValues: number = MAX_JSON_VALUES,
  numbers: ReadNumbers = 'held',
): JsonValue {
  const text = typeof input === 'string' ? input : decodeUtf8(input);
  if (text === null) throw new StrictJsonError('invalid-utf8', 'The text is not valid UTF-8.');
  const outline = outlineOf(text, maxDepth, maxValues, numbers);
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

/**
 * Like `parseStrictJson`, for requests and evidence packages: also refuses a member named `__proto__` at any depth.
 * Assigning such a member to a JavaScript object does not create it, so a copy of the value would silently lose it, and
 * a schema of a closed object would not notice it.
 * @throws StrictJsonError
 */
export function parseStrictInput(
  input: Uint8Array | string,
  maxDepth: number = MAX_JSON_DEPTH,
  maxValues: number = MAX_JSON_VALUES,
  numbers: ReadNumbers = 'held',
): JsonValue {
  const text = typeof input === 'string' ? input : decodeUtf8(input);
  if (text === null) throw new StrictJsonError('invalid-utf8', 'The text is not valid UTF-8.');
  const value = parseStrictJson(text, maxDepth, maxValues, numbers);
  if ((text.includes(INHERITED) || text.includes('\\u')) && hasInherited(value)) {
    throw new StrictJsonError('forbidden-name', `No member may be named ${INHERITED}.`);
  }
  return value;
}

const INHERITED = '__proto__';

function hasInherited(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.some(hasInherited);
  return Object.hasOwn(value, INHERITED) || Object.values(value).some(hasInherited);
}

interface Outline {
  members: number;
  hasUnicodeEscape: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Refuses what would be costly to parse before anything is parsed. */
function outlineOf(text: string, maxDepth: number, maxValues: number, numbers: ReadNumbers): Outline {
  const outline: Outline = { members: 0, hasUnicodeEscape: false };
  let depth = 0;
  let values = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(text, i, outline);
    } else if (code === 0x7b || code === 0x5b || code === 0x2c) {
      if (code !== 0x2c) depth += 1;
      values += 1;
      if (depth > maxDepth) throw new StrictJsonError('too-deep', `The nesting is deeper than ${maxDepth} levels.`);
      if (values > maxValues) throw tooMany(maxValues);
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    } else if (code === 0x3a) {
      outline.members += 1;
    } else if ((code >= 0x30 && code <= 0x39) || code === 0x2d) {
      i = checkNumber(text, i, numbers);
    }
  }
  return outline;
}

/** The index of the quotation mark that ends the string that starts at `start`. */
function endOfString(text: string, start: number, outline: Outline): number {
  let i = start + 1;
  for (; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) break;
    if (code !== BACKSLASH) continue;
    i += 1;
    if (text.charCodeAt(i) === 0x75) outline.hasUnicodeEscape = true;
  }
  return i;
}

function tooMany(maxValues: number): StrictJsonError {
  return new StrictJsonError('too-many-values', `The text holds more than ${maxValues} values.`);
}

/** A double exactly represents any literal of at most this length without an exponent. */
const SHORT = 15;
/**
 * Significant digits that a double of ordinary size always holds, and the most that tell two
 * doubles apart.
 */
const CERTAIN_DIGITS = 15;
const MAX_DIGITS = 17;
/** Far above the doubles that hold fewer digits (below 2^-1022). */
const SMALLEST_CERTAIN = 1e-290;

/** Checks the number that starts at `start`, and returns the index of its last character. */
function checkNumber(text: string, start: number, numbers: ReadNumbers): number {
  let end = start + 1;
  let hasExponent = false;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if ((code >= 0x30 && code <= 0x39) || code === 0x2e) continue;
    if (code === 0x65 || code === 0x45) hasExponent = true;
    else if (code !== 0x2b && code !== 0x2d) break;
  }
  if ((hasExponent || end - start > SHORT) && !isHeldExactly(text.slice(start, end), numbers)) {
    const message = 'A number lies outside what I-JSON can carry exactly.';
    throw new StrictJsonError('number-out-of-range', message, pathTo(text, start));
  }
  return end - 1;
}

/** The names and indexes that lead to the value at an index of the text, as far as the text is JSON. */
function pathTo(text: string, target: number): readonly string[] {
  const path: (string | number)[] = [];
  let lastString = '';
  for (let i = 0; i < target; i += 1) {
    const code = text.charCodeAt(i);
    const top = path.length - 1;
    const index = path[top];
    if (code === QUOTE) {
      const end = endOfString(text, i, { members: 0, hasUnicodeEscape: false });
      lastString = text.slice(i + 1, end);
      i = end;
    } else if (code === 0x5b) path.push(0);
    else if (code === 0x7b) path.push('');
    else if (code === 0x5d || code === 0x7d) path.pop();
    else if (code === 0x3a) path[top] = lastString;
    else if (code === 0x2c && typeof index === 'number') path[top] = index + 1;
  }
  return path.map(String);
}

/** Returns whether reading the literal as a double preserves what its digits say. */
function isHeldExactly(literal: string, numbers: ReadNumbers): boolean {
  const value = Number(literal);
  // The parser rejects text that is not a number.
  if (Number.isNaN(value)) return true;
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return false;
  const digits = significantDigits(literal);
  if (digits === '') return true;
  if (value === 0 || digits.length > MAX_DIGITS) return false;
  if (digits.length <= CERTAIN_DIGITS && Math.abs(value) >= SMALLEST_CERTAIN) return true;
  if (significantDigits(String(value)) === digits) return true;
  return numbers === 'held' && significantDigits(value.toPrecision(digits.length)) === digits;
}

/** The digits of a decimal number, from the first non-zero digit to the last. */
function significantDigits(literal: string): string {
  const [mantissa = ''] = literal.split(/[eE]/, 1);
  const digits = mantissa.replaceAll(/[-.]/g, '');
  let first = 0;
  let end = digits.length;
  while (digits.charCodeAt(first) === 0x30) first += 1;
  while (end > first && digits.charCodeAt(end - 1) === 0x30) end -= 1;
  return digits.slice(first, end);
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
