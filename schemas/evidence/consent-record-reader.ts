import {
  CHANNELS,
  COMPLIANCE_FRAMEWORKS,
  type ConsentRecord,
  DECISIONS,
  HASH_VERSION,
  VOUCHABLE_FIELDS,
} from '../events/consent-recorded.js';
import { BASE64URL, type Cursor, DASHES, DIGIT, DOT, LAST_OF_32_BYTES, LOWER, UPPER, within } from '../json/cursor.js';
import { nullOr, takeHash } from './consent-values.js';

const NAME = DIGIT | LOWER | UPPER | DASHES | DOT;
const MOST_DIGESTS = 64;
const MOST_CATEGORIES = 100;

const QUOTE = within('"');
const COMMA = within(',');
const NULL = within('null');
const OPEN_LIST = within('[');
const CLOSE_LIST = within(']');
const OPEN = within('{');
const CLOSE = within('}');

const RECORD = {
  digests: within('{"_sd":'),
  apiKey: within(',"api_key_id":"'),
  categories: within('","categories":'),
  channel: within(',"channel":"'),
  framework: within('","compliance_framework":'),
  consentType: within(',"consent_type":"'),
  createdAt: within('","created_at":"'),
  decision: within('","decision":"'),
  documentHash: within('","document_hash":"'),
  documentVersion: within('","document_version_id":"'),
  eventId: within('","event_id":"'),
  assurance: within(`","hash_version":${HASH_VERSION},"identity_assurance":`),
  language: within(',"language":"'),
  proofKey: within('","proof_key_id":"'),
  siteConfig: within('","site_config_hash":"'),
  site: within('","site_id":"'),
  validUntil: within('","v":1,"valid_until":'),
};

/**
 * Reads the record of a consent, in its canonical text, within a JSON string: see `consentEntryAt`.
 * @returns null where the text is not recognised: it may be right all the same
 */
export function consentRecordAt(cursor: Cursor): ConsentRecord | null {
  cursor.expect(RECORD.digests);
  const digests = digestsAt(cursor);
  cursor.expect(RECORD.apiKey);
  const apiKeyId = cursor.uuid();
  cursor.expect(RECORD.categories);
  const categories = categoriesAt(cursor);
  cursor.expect(RECORD.channel);
  const channel = oneOf(cursor, CHANNELS);
  cursor.expect(RECORD.framework);
  const framework = nullOr(cursor, takeFramework);
  cursor.expect(RECORD.consentType);
  const consentType = cursor.span(NAME, 1, 50);
  cursor.expect(RECORD.createdAt);
  const createdAt = takeInstant(cursor);
  cursor.expect(RECORD.decision);
  const decision = oneOf(cursor, DECISIONS);
  cursor.expect(RECORD.documentHash);
  const documentHash = takeHash(cursor);
  cursor.expect(RECORD.documentVersion);
  const documentVersionId = cursor.uuid();
  cursor.expect(RECORD.eventId);
  const eventId = cursor.uuid();
  cursor.expect(RECORD.assurance);
  const assurance = assuranceAt(cursor);
  cursor.expect(RECORD.language);
  const language = cursor.span(DIGIT | LOWER | UPPER | DASHES, 2, 35);
  cursor.expect(RECORD.proofKey);
  const proofKeyId = cursor.span(NAME, 1, 80);
  cursor.expect(RECORD.siteConfig);
  const siteConfigHash = takeHash(cursor);
  cursor.expect(RECORD.site);
  const siteId = cursor.uuid();
  cursor.expect(RECORD.validUntil);
  const validUntil = nullOr(cursor, takeInstant);
  cursor.expect(CLOSE);
  if (cursor.isBroken || channel === null || decision === null) return null;
  return {
    _sd: digests,
    api_key_id: apiKeyId,
    categories,
    channel,
    compliance_framework: framework,
    consent_type: consentType,
    created_at: createdAt,
    decision,
    document_hash: documentHash,
    document_version_id: documentVersionId,
    event_id: eventId,
    hash_version: HASH_VERSION,
    identity_assurance: assurance,
    language,
    proof_key_id: proofKeyId,
    site_config_hash: siteConfigHash,
    site_id: siteId,
    v: 1,
    valid_until: validUntil,
  };
}

function oneOf<T extends string>(cursor: Cursor, values: readonly T[]): T | null {
  const text = cursor.span(LOWER | DIGIT | DASHES, 1, 30);
  for (const value of values) if (value === text) return value;
  cursor.isBroken = true;
  return null;
}

function takeFramework(cursor: Cursor): ConsentRecord['compliance_framework'] {
  return oneOf(cursor, COMPLIANCE_FRAMEWORKS);
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
  // A day that the month does not have is read as one of the next; no other number can be beyond
  // what there is, and midnight has one name.
  return instant.slice(8, 10) <= '28' && instant.slice(11, 13) <= '23'
    ? true
    : new Date(time).toISOString() === instant;
}

function digestsAt(cursor: Cursor): string[] {
  cursor.expect(OPEN_LIST);
  const digests: string[] = [];
  if (cursor.skip(CLOSE_LIST)) return digests;
  do {
    cursor.expect(QUOTE);
    const start = cursor.at;
    cursor.take(BASE64URL, 42);
    cursor.take(LAST_OF_32_BYTES, 1);
    digests.push(cursor.text.slice(start, cursor.at));
    cursor.expect(QUOTE);
  } while (!cursor.isBroken && digests.length < MOST_DIGESTS && cursor.skip(COMMA));
  cursor.expect(CLOSE_LIST);
  return digests;
}

const AFTER_KEY = within('":');
const TRUE = within('true');
const FALSE = within('false');

function categoriesAt(cursor: Cursor): Record<string, boolean> | null {
  if (cursor.skip(NULL)) return null;
  cursor.expect(OPEN);
  const categories: Record<string, boolean> = {};
  if (cursor.skip(CLOSE)) return categories;
  let last = '';
  let count = 0;
  do {
    cursor.expect(QUOTE);
    const key = cursor.span(NAME, 1, 50);
    // In order, for the text is canonical then. A member of this name would not become one of the
    // object.
    if (key <= last || key === '__proto__') cursor.isBroken = true;
    last = key;
    cursor.expect(AFTER_KEY);
    const isChosen = cursor.skip(TRUE);
    if (!isChosen) cursor.expect(FALSE);
    categories[key] = isChosen;
    count += 1;
  } while (!cursor.isBroken && count < MOST_CATEGORIES && cursor.skip(COMMA));
  cursor.expect(CLOSE);
  return categories;
}

const ASSURANCE = {
  token: within('{"approval_token_id":"'),
  prefix: within('atk_'),
  vouched: within('","method":"tenant_attested","vouched":['),
  end: within(']}'),
};

function assuranceAt(cursor: Cursor): ConsentRecord['identity_assurance'] {
  if (cursor.skip(NULL)) return null;
  cursor.expect(ASSURANCE.token);
  const start = cursor.at;
  cursor.expect(ASSURANCE.prefix);
  cursor.span(BASE64URL, 1, 60);
  const tokenId = cursor.text.slice(start, cursor.at);
  cursor.expect(ASSURANCE.vouched);
  const vouched: (typeof VOUCHABLE_FIELDS)[number][] = [];
  let last = '';
  do {
    cursor.expect(QUOTE);
    const name = oneOf(cursor, VOUCHABLE_FIELDS);
    cursor.expect(QUOTE);
    if (name === null || name <= last) {
      cursor.isBroken = true;
      return null;
    }
    last = name;
    vouched.push(name);
  } while (cursor.skip(COMMA));
  cursor.expect(ASSURANCE.end);
  return { approval_token_id: tokenId, method: 'tenant_attested', vouched };
}
