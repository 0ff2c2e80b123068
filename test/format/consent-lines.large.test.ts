import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textOfBytes, toHex, utf8 } from '../../schemas/crypto/encoding.js';
import {
  CHANNELS,
  COMPLIANCE_FRAMEWORKS,
  CONSENT_RECORDED,
  ConsentRecord,
  ConsentRecordedBody,
  DECISIONS,
  SCOPES,
  VOUCHABLE_FIELDS,
} from '../../schemas/events/consent-recorded.js';
import { readConsentBody } from '../../schemas/evidence/consent-body.js';
import { readConsentLine } from '../../schemas/evidence/consent-line.js';
import { DISCLOSURE_NAMES } from '../../schemas/evidence/disclosed-values.js';
import { Entry, entryLeaf, entryLeafHex, entryText } from '../../schemas/evidence/entry.js';
import { EntryLine, ProofLine } from '../../schemas/evidence/package-lines.js';
import { readProofLine } from '../../schemas/evidence/proof-line.js';
import { canonicalJson, isCanonicalJson } from '../../schemas/json/canonical-json.js';
import { Cursor } from '../../schemas/json/cursor.js';
import { parseStrictJson, StrictJsonError } from '../../schemas/json/strict-json.js';
import { sampled } from '../support/sweeps.js';

const RUNS = { numRuns: 1_500 };
const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
const sha256Hex = hex(64);
const uuid = fc.uuid();
const instant = fc
  .date({ min: new Date('0001-01-01T00:00:00.000Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const base64url = (most: number) => fc.string({ unit: fc.constantFrom(...BASE64URL), maxLength: most });
const digest = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('base64url'));
const name = (most: number) =>
  fc.oneof(
    fc.string({ unit: fc.constantFrom(...'abcXYZ019_-.'), minLength: 1, maxLength: most }),
    fc.constantFrom('__proto__', 'constructor', '1', '10', '2', 'toString'),
    fc.string({ minLength: 1, maxLength: most }),
  );
const answers = fc
  .array(fc.tuple(name(50), fc.boolean()), { maxLength: 6 })
  .map((members) => Object.fromEntries(members));
const record = fc.record({
  v: fc.constant(2 as const),
  hash_version: fc.constant(2 as const),
  proof_key_id: name(80),
  event_id: uuid,
  site_id: uuid,
  consent_type: fc.string({ unit: fc.constantFrom(...'abcXYZ019_-.'), minLength: 1, maxLength: 50 }),
  decision: fc.constantFrom(...DECISIONS),
  categories: fc.oneof(fc.constant(null), answers),
  services: fc.oneof(
    fc.constant(null),
    fc.array(fc.tuple(name(50), answers), { maxLength: 3 }).map((members) => Object.fromEntries(members)),
  ),
  language: fc.constantFrom('en', 'tr', 'pt-BR', 'zh-Hant-TW'),
  document_version_id: uuid,
  document_hash: sha256Hex,
  site_config_hash: sha256Hex,
  compliance_framework: fc.constantFrom(null, ...COMPLIANCE_FRAMEWORKS),
  created_at: instant,
  valid_until: fc.oneof(fc.constant(null), instant),
  channel: fc.constantFrom(...CHANNELS),
  api_key_id: uuid,
  identity_assurance: fc.constantFrom(null, 'tenant_attested' as const),
  approval_token_id: fc.oneof(
    fc.constant(null),
    fc.tuple(fc.constantFrom('atk', 'ptk'), base64url(60)).map(([kind, text]) => `${kind}_${text}x`.slice(0, 64)),
  ),
  vouched: fc.subarray([...VOUCHABLE_FIELDS]),
  disclosures: fc.dictionary(fc.constantFrom(...DISCLOSURE_NAMES), digest, { maxKeys: 5, noNullPrototype: true }),
  scope: fc.constantFrom(...SCOPES, ...SCOPES, 'household'),
  ask_again_at: fc.oneof(fc.constant(null), instant),
  rule_id: fc.constantFrom(null, 'uk', 'us_opt-out-2', 'UK', '__proto__'),
});
const entry = fc
  .record({
    record,
    revision: fc.nat(),
    previous: fc.oneof(fc.constant(null), sha256Hex),
    proofHash: sha256Hex,
    personTag: sha256Hex,
  })
  .map(({ record: content, revision, previous, proofHash, personTag }) =>
    entryText({
      stream: `consents-${content.site_id}`,
      revision,
      previous,
      eventId: content.event_id,
      type: CONSENT_RECORDED,
      recordText: canonicalJson(content),
      proofHash,
      personTag,
    }),
  );
const line = fc
  .record({
    entry,
    batch: fc.nat(),
    index: fc.nat(),
    disclosures: fc.array(base64url(40), { maxLength: 4 }),
    erased: fc.option(fc.record({ stream: uuid.map((id) => `consents-${id}`), revision: fc.nat() })),
  })
  .map(({ erased, ...rest }) => JSON.stringify({ ...rest, ...(erased !== null && { erased }) }));

/**
 * Changes of a text: by one byte, or by a piece that is left out, put in, or taken from elsewhere
 * in it.
 */
const change = fc.record({
  at: fc.double({ min: 0, max: 0.999999, noNaN: true }),
  length: fc.nat({ max: 40 }),
  piece: fc.oneof(
    fc.constantFrom(
      '',
      '"',
      '\\"',
      '\\',
      ',',
      ':',
      '0',
      '00',
      '-',
      '.5',
      'e3',
      ' ',
      '\n',
      '}',
      ']',
      '{',
      '[',
      'null',
      'true',
    ),
    fc.constantFrom(
      '\\u0041',
      '\\\\u0041',
      '\\ud800',
      '\\u0000',
      'é',
      '\u0000',
      '__proto__',
      ',"x":1',
      ',\\"x\\":1',
      '9'.repeat(16),
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  ),
});
const changed = (text: string, { at, length, piece }: { at: number; length: number; piece: string }) => {
  const place = Math.floor(at * text.length);
  return text.slice(0, place) + piece + text.slice(place + length);
};

function cursorOver(text: string): Cursor {
  const bytes = utf8(text.toWellFormed());
  // Amid other bytes, as in a block of lines.
  const block = utf8(`{"}${text.toWellFormed()}\n{"entry":"`);
  return new Cursor(block, textOfBytes(block), 3, 3 + bytes.length);
}

/** Reads a line by the schemas: null unless everything about it is right. */
function bySchema(text: string): { source: EntryLine; entry: Entry; record: ConsentRecord } | null {
  try {
    const source = EntryLine.safeParse(parseStrictJson(utf8(text.toWellFormed())));
    if (!source.success) return null;
    const json = parseStrictJson(source.data.entry);
    const parsed = Entry.safeParse(json);
    if (!parsed.success || !isCanonicalJson(source.data.entry, json)) return null;
    if (parsed.data.type !== CONSENT_RECORDED || parsed.data.proof_hash === null) return null;
    const content = ConsentRecord.safeParse(parsed.data.record);
    return content.success ? { source: source.data, entry: parsed.data, record: content.data } : null;
  } catch (error) {
    if (error instanceof StrictJsonError) return null;
    throw error;
  }
}

/**
 * Asserts that what was read is what the schemas read, its members in the same order.
 * @returns whether it was read
 */
function agrees(text: string): boolean {
  const read = readConsentLine(cursorOver(text), new Uint8Array(3 * text.length + 8));
  if (read === null) return false;
  const expected = bySchema(text);
  expect(expected).not.toBeNull();
  const { entry: sealed = '', ...rest } = expected?.source ?? {};
  expect(read.source).toEqual(rest);
  expect(read.leaf).toBe(entryLeafHex(sealed));
  expect(read.entry).toEqual({ ...expected?.entry, record: expected?.record });
  expect(JSON.stringify(read.entry)).toBe(JSON.stringify(parseStrictJson(sealed)));
  return true;
}

/**
 * Whether nothing in a line is beyond what is read quickly: as in every line of a service whose
 * names are simple.
 */
function isPlain(text: string): boolean {
  const { record: content } = bySchema(text) ?? {};
  if (content === undefined) return false;
  const services = Object.entries(('services' in content ? content.services : null) ?? {});
  const names = [
    content.proof_key_id,
    ...Object.keys(content.categories ?? {}),
    ...services.flatMap(([category, of]) => [category, ...Object.keys(of)]),
  ];
  return names.every((found) => /^[A-Za-z0-9_.-]+$/.test(found)) && !text.includes('__proto__\\":');
}

describe('lines with consents', () => {
  test('are read as by the schemas, and read wherever they are plain', () => {
    let recognised = 0;
    fc.assert(
      fc.property(line, (text) => {
        const isRead = agrees(text);
        if (isRead) recognised += 1;
        expect(isRead).toBe(isPlain(text));
      }),
      RUNS,
    );
    expect(recognised).toBeGreaterThan(RUNS.numRuns / 10);
  });

  test('that were changed are read as by the schemas, or left to them', () => {
    fc.assert(
      fc.property(line, fc.array(change, { minLength: 1, maxLength: 3 }), (text, changes) => {
        agrees(changes.reduce(changed, text));
      }),
      { numRuns: 5 * RUNS.numRuns },
    );
  });

  test('agrees with the schemas on every single byte of one, changed to any other', () => {
    const [text = ''] = fc.sample(line.filter(isPlain), { numRuns: 1, seed: 8 });
    let stillRead = 0;
    const places = sampled('changed bytes of a line', [...Array(text.length).keys()]);
    for (const at of places) {
      for (const character of '09afgzAZ-_."\\{}[],: \u0000\u007fé') {
        if (agrees(text.slice(0, at) + character + text.slice(at + 1))) stillRead += 1;
      }
    }
    expect(stillRead).toBeGreaterThan(places.length);
  });
});

describe('single values at their edges', () => {
  const [plain = ''] = fc.sample(line.filter(isPlain), { numRuns: 1, seed: 3 });
  const times = [
    ['2026-02-28T23:59:59.999Z', true],
    ['2024-02-29T00:00:00.000Z', true],
    ['2026-02-29T00:00:00.000Z', false],
    ['2026-04-31T00:00:00.000Z', false],
    ['2026-13-01T00:00:00.000Z', false],
    ['2026-00-10T00:00:00.000Z', false],
    ['2026-01-00T00:00:00.000Z', false],
    ['2026-01-01T24:00:00.000Z', false],
    ['2026-01-01T23:60:00.000Z', false],
    ['2026-01-01T23:59:60.000Z', false],
    ['0000-01-01T00:00:00.000Z', true],
  ] as const;
  test.each(times)('the time %s: %s', (time, isReal) => {
    const text = plain.replace(/created_at\\":\\"[^"\\]*/, `created_at\\":\\"${time}`);
    expect(text).toContain(time);
    expect(agrees(text)).toBe(isReal);
    expect(bySchema(text) !== null).toBe(isReal);
  });
  const numbers = [
    ['0', true],
    ['00', false],
    ['01', false],
    ['-1', false],
    ['-0', false],
    ['1.0', false],
    ['1e3', false],
    ['999999999999999', true],
  ] as const;
  test.each(numbers)('the index %s: %s', (number, isRead) => {
    expect(agrees(plain.replace(/"index":\d+/, `"index":${number}`))).toBe(isRead);
  });
});

test('bodies of events are read as by the schemas, changed ones too', () => {
  const body = fc
    .record({
      record: record.map(canonicalJson),
      proof_hash: sha256Hex,
      disclosures: fc.oneof(fc.constant(null), fc.base64String(), fc.string()),
      attachments: fc.array(uuid, { maxLength: 9 }),
    })
    .map((value) => JSON.stringify(value));
  let recognised = 0;
  fc.assert(
    fc.property(body, fc.array(change, { maxLength: 2 }), (text, changes) => {
      const given = changes.reduce(changed, text).toWellFormed();
      const read = readConsentBody(utf8(given));
      if (read === null) return;
      recognised += 1;
      expect(read.body).toEqual(ConsentRecordedBody.parse(parseStrictJson(given)));
      const json = parseStrictJson(read.body.record);
      expect(isCanonicalJson(read.body.record, json)).toBe(true);
      expect(read.record).toEqual(ConsentRecord.parse(json));
    }),
    { numRuns: 3 * RUNS.numRuns },
  );
  expect(recognised).toBeGreaterThan(RUNS.numRuns / 10);
});

test('lines of proofs are read as by the schema, changed ones too', () => {
  const proof = fc
    .oneof(
      fc.record({ index: fc.nat(), leaf: sha256Hex }),
      fc.record({ index: fc.nat(), path: fc.array(sha256Hex, { maxLength: 66 }) }),
    )
    .map((value) => JSON.stringify(value));
  let recognised = 0;
  fc.assert(
    fc.property(proof, fc.array(change, { maxLength: 2 }), (text, changes) => {
      const given = changes.reduce(changed, text).toWellFormed();
      const read = readProofLine(cursorOver(given));
      if (read === null) return;
      recognised += 1;
      expect(read).toEqual(ProofLine.parse(parseStrictJson(given)));
    }),
    { numRuns: 3 * RUNS.numRuns },
  );
  expect(recognised).toBeGreaterThan(RUNS.numRuns / 10);
});

test('a leaf in hex is that in bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(entryLeafHex(text)).toBe(toHex(entryLeaf(text)));
    }),
  );
});
