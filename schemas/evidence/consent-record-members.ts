import {
  ASSURANCES,
  CHANNELS,
  COMPLIANCE_FRAMEWORKS,
  DECISIONS,
  HASH_VERSION,
  SCOPES,
  VOUCHABLE_FIELDS,
  type WrittenConsentRecord,
} from '../events/consent-recorded.js';
import { BASE64URL, type Cursor, DASHES, DIGIT, DOT, LAST_OF_32_BYTES, LOWER, UPPER, within } from '../json/cursor.js';
import { nullOr, takeHash } from './consent-values.js';
import { DISCLOSURE_NAMES } from './disclosed-values.js';

/** How the value of one member is written in the canonical text (RFC 8785) of a record. */
interface Member<T> {
  /** The JSON of a value that the schema has accepted. */
  write(value: T): string;
  /** Reads the value within a JSON string. Unrecognised text breaks the cursor, although it may be valid. */
  read(cursor: Cursor): T;
}

const NAME = DIGIT | LOWER | UPPER | DASHES | DOT;
const MOST_ANSWERS = 100;

const QUOTE = within('"');
const COMMA = within(',');
const NULL = within('null');
const OPEN_LIST = within('[');
const CLOSE_LIST = within(']');
const OPEN = within('{');
const CLOSE = within('}');

const quote = (text: string): string => JSON.stringify(text);

/** A value whose form allows no character that JSON escapes. */
function plain<T extends string>(read: (cursor: Cursor) => T): Member<T> {
  return { write: (value) => `"${value}"`, read: (cursor) => quoted(cursor, read) };
}

/** A value that JSON may escape in part. */
function escaped(read: (cursor: Cursor) => string): Member<string> {
  return { write: quote, read: (cursor) => quoted(cursor, read) };
}

function nullable<T extends string>(read: (cursor: Cursor) => T): Member<T | null> {
  return { write: (value) => (value === null ? 'null' : quote(value)), read: (cursor) => nullOr(cursor, read) };
}

/** A number that the version of the record fixes. */
function fixed<T extends number>(value: T): Member<T> {
  const text = within(String(value));
  return {
    write: String,
    read: (cursor) => {
      cursor.expect(text);
      return value;
    },
  };
}

const uuid = plain((cursor) => cursor.uuid());
const hash = plain(takeHash);

/**
 * Every member of a consent record of version 2: the writer and the fast reader of its canonical text are made from
 * this table, so that they cannot differ. Its schema is `ConsentRecordV2`. Records of before,
 * which lack members, are read by the schemas.
 */
const MEMBERS: { readonly [K in keyof WrittenConsentRecord]: Member<WrittenConsentRecord[K]> } = {
  api_key_id: uuid,
  approval_token_id: nullable(tokenIdAt),
  ask_again_at: nullable(takeInstant),
  categories: { write: (answers) => objectText(answers, String), read: (cursor) => objectAt(cursor, answerAt) },
  channel: plain((cursor) => oneOf(cursor, CHANNELS)),
  compliance_framework: nullable((cursor) => oneOf(cursor, COMPLIANCE_FRAMEWORKS)),
  consent_type: escaped((cursor) => cursor.span(NAME, 1, 50)),
  created_at: plain(takeInstant),
  decision: plain((cursor) => oneOf(cursor, DECISIONS)),
  disclosures: { write: disclosuresText, read: disclosuresAt },
  document_hash: hash,
  document_version_id: uuid,
  event_id: uuid,
  hash_version: fixed(HASH_VERSION),
  identity_assurance: nullable((cursor) => oneOf(cursor, ASSURANCES)),
  language: escaped((cursor) => cursor.span(DIGIT | LOWER | UPPER | DASHES, 2, 35)),
  proof_key_id: escaped((cursor) => cursor.span(NAME, 1, 80)),
  rule_id: nullable((cursor) => cursor.span(DIGIT | LOWER | DASHES, 1, 50)),
  scope: plain((cursor) => oneOf(cursor, SCOPES)),
  services: {
    write: (services) => objectText(services, (answers) => keyedText(answers, String)),
    read: (cursor) => objectAt(cursor, (inner) => keyedAt(inner, answerAt)),
  },
  site_config_hash: hash,
  site_id: uuid,
  v: fixed(2),
  valid_until: nullable(takeInstant),
  vouched: { write: vouchedText, read: vouchedAt },
};

/** A member's name, and the text that stands before its value. */
interface Place {
  readonly name: keyof WrittenConsentRecord;
  readonly before: string;
  readonly beforeInString: Uint8Array;
}

// RFC 8785 §3.2.3: members in the order of their names' UTF-16 code units.
const PLACES: readonly Place[] = Object.keys(MEMBERS)
  .filter(isMember)
  .sort()
  .map((name, index) => {
    const before = `${index === 0 ? '{' : ','}"${name}":`;
    return { name, before, beforeInString: within(before) };
  });

function isMember(name: string): name is keyof WrittenConsentRecord {
  return name in MEMBERS;
}

/**
 * The canonical text of a consent record (RFC 8785): the same as `canonicalJson(record)`, at a tenth
 * of its cost.
 */
export function consentRecordText(record: WrittenConsentRecord): string {
  let text = '';
  for (const { name, before } of PLACES) text += before + memberText(record, name);
  return `${text}}`;
}

function memberText<K extends keyof WrittenConsentRecord>(record: WrittenConsentRecord, name: K): string {
  return MEMBERS[name].write(record[name]);
}

/**
 * Reads the record of a consent, in its canonical text, within a JSON string: see `consentEntryAt`.
 * @returns null if the text is not recognised, although it may be valid
 */
export function consentRecordAt(cursor: Cursor): WrittenConsentRecord | null {
  const record: Partial<WrittenConsentRecord> = {};
  for (const { name, beforeInString } of PLACES) {
    cursor.expect(beforeInString);
    readMember(record, name, cursor);
    if (cursor.isBroken) return null;
  }
  cursor.expect(CLOSE);
  return !cursor.isBroken && isComplete(record) ? record : null;
}

function readMember<K extends keyof WrittenConsentRecord>(
  record: Partial<WrittenConsentRecord>,
  name: K,
  cursor: Cursor,
): void {
  record[name] = MEMBERS[name].read(cursor);
}

function isComplete(record: Partial<WrittenConsentRecord>): record is WrittenConsentRecord {
  for (const { name } of PLACES) if (record[name] === undefined) return false;
  return true;
}

function quoted<T>(cursor: Cursor, read: (cursor: Cursor) => T): T {
  cursor.expect(QUOTE);
  const value = read(cursor);
  cursor.expect(QUOTE);
  return value;
}

/** Reads one of a closed list. For any other text, the cursor is broken and the first of the list is returned. */
function oneOf<T extends string>(cursor: Cursor, values: readonly [T, ...T[]]): T {
  const text = cursor.span(LOWER | DIGIT | DASHES, 1, 30);
  for (const value of values) if (value === text) return value;
  cursor.isBroken = true;
  return values[0];
}

const TIME_SEPARATORS: readonly (readonly [number, Uint8Array])[] = [
  [4, within('-')],
  [2, within('-')],
  [2, within('T')],
  [2, within(':')],
  [2, within(':')],
  [2, within('.')],
  [3, within('Z')],
];

function takeInstant(cursor: Cursor): string {
  const start = cursor.at;
  for (const [digits, separator] of TIME_SEPARATORS) {
    cursor.take(DIGIT, digits);
    cursor.expect(separator);
  }
  const instant = cursor.text.slice(start, cursor.at);
  if (!cursor.isBroken && !isRealTime(instant)) cursor.isBroken = true;
  return instant;
}

function isRealTime(instant: string): boolean {
  const time = Date.parse(instant);
  if (Number.isNaN(time)) return false;
  // `Date` reads a day that the month does not have as one of the next month. No other number can be out of range, and
  // midnight has only one form.
  return instant.slice(8, 10) <= '28' && instant.slice(11, 13) <= '23'
    ? true
    : new Date(time).toISOString() === instant;
}

function disclosuresAt(cursor: Cursor): WrittenConsentRecord['disclosures'] {
  cursor.expect(OPEN);
  const digests: WrittenConsentRecord['disclosures'] = {};
  if (cursor.skip(CLOSE)) return digests;
  let last = '';
  do {
    cursor.expect(QUOTE);
    const name = oneOf(cursor, DISCLOSURE_NAMES);
    // In order, because only then is the text canonical.
    if (name <= last) cursor.isBroken = true;
    last = name;
    cursor.expect(AFTER_NAME);
    const start = cursor.at;
    cursor.take(BASE64URL, 42);
    cursor.take(LAST_OF_32_BYTES, 1);
    digests[name] = cursor.text.slice(start, cursor.at);
    cursor.expect(QUOTE);
  } while (!cursor.isBroken && cursor.skip(COMMA));
  cursor.expect(CLOSE);
  return digests;
}

function disclosuresText(digests: WrittenConsentRecord['disclosures']): string {
  let text = '';
  // The list is sorted.
  for (const name of DISCLOSURE_NAMES) {
    const digest = digests[name];
    if (digest !== undefined) text += `${text === '' ? '' : ','}"${name}":"${digest}"`;
  }
  return `{${text}}`;
}

const AFTER_KEY = within('":');
const AFTER_NAME = within('":"');
const TRUE = within('true');
const FALSE = within('false');

/** Reads an object from keys to values, or null. */
function objectAt<T>(cursor: Cursor, valueAt: (cursor: Cursor) => T): Record<string, T> | null {
  return cursor.skip(NULL) ? null : keyedAt(cursor, valueAt);
}

function keyedAt<T>(cursor: Cursor, valueAt: (cursor: Cursor) => T): Record<string, T> {
  cursor.expect(OPEN);
  const values: Record<string, T> = {};
  if (cursor.skip(CLOSE)) return values;
  let last = '';
  let count = 0;
  do {
    cursor.expect(QUOTE);
    const key = cursor.span(NAME, 1, 50);
    // In order, because only then is the text canonical. A member of this name would not become one of the object.
    if (key <= last || key === '__proto__') cursor.isBroken = true;
    last = key;
    cursor.expect(AFTER_KEY);
    values[key] = valueAt(cursor);
    count += 1;
  } while (!cursor.isBroken && count < MOST_ANSWERS && cursor.skip(COMMA));
  cursor.expect(CLOSE);
  return values;
}

function answerAt(cursor: Cursor): boolean {
  const isChosen = cursor.skip(TRUE);
  if (!isChosen) cursor.expect(FALSE);
  return isChosen;
}

const TOKEN_PREFIX = within('atk_');
const PERSON_TOKEN_PREFIX = within('ptk_');

function tokenIdAt(cursor: Cursor): string {
  const start = cursor.at;
  if (!cursor.skip(PERSON_TOKEN_PREFIX)) cursor.expect(TOKEN_PREFIX);
  cursor.span(BASE64URL, 1, 60);
  return cursor.text.slice(start, cursor.at);
}

function vouchedAt(cursor: Cursor): WrittenConsentRecord['vouched'] {
  cursor.expect(OPEN_LIST);
  const vouched: WrittenConsentRecord['vouched'] = [];
  if (cursor.skip(CLOSE_LIST)) return vouched;
  let last = '';
  do {
    cursor.expect(QUOTE);
    const name = oneOf(cursor, VOUCHABLE_FIELDS);
    cursor.expect(QUOTE);
    if (name <= last) cursor.isBroken = true;
    last = name;
    vouched.push(name);
  } while (!cursor.isBroken && cursor.skip(COMMA));
  cursor.expect(CLOSE_LIST);
  return vouched;
}

function vouchedText(vouched: WrittenConsentRecord['vouched']): string {
  return `[${vouched.map(quote).join(',')}]`;
}

function objectText<T>(values: Readonly<Record<string, T>> | null, textOf: (value: T) => string): string {
  return values === null ? 'null' : keyedText(values, textOf);
}

function keyedText<T>(values: Readonly<Record<string, T>>, textOf: (value: T) => string): string {
  const members = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, value]) => `${quote(key)}:${textOf(value)}`).join(',')}}`;
}
