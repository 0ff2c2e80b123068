import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { checkFile } from '../../../src/pipeline/importer/index.js';
import { itemsOfLists, type MappedRow, mapRow } from '../../../src/pipeline/importer/map-row.js';
import { InvalidMapping, parseMapping } from '../../../src/pipeline/importer/mapping.js';
import { MAX_ROW_BYTES, readRows, type SourceRow } from '../../../src/pipeline/importer/read-rows.js';
import { configuration, SITE } from '../../verifier/dishonest-operator/world.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'read-rows-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function rowsOf(
  format: 'csv' | 'json' | 'jsonl',
  content: string | Uint8Array,
  delimiter = ',',
): Promise<SourceRow[]> {
  const path = join(folder, 'file');
  await writeFile(path, content);
  const rows: SourceRow[] = [];
  for await (const row of readRows(path, { format, delimiter }, () => undefined)) rows.push(row);
  return rows;
}

const valuesOf = (rows: readonly SourceRow[]): unknown[] => rows.map(({ values }) => values);

/** Objects with all that could be taken for the end of one, over several pieces of the file. */
const TRICKY = Array.from({ length: 4_000 }, (_, n) => ({
  id: n,
  text: `a ] , [ { } " \\ \\" ${'ş€😀'.repeat(n % 7)}`,
  list: [[], {}, [n, { deep: ']' }]],
}));

describe('rows of a file', () => {
  it('are the elements of an array of JSON, wherever the file is cut', async () => {
    for (const text of [JSON.stringify(TRICKY), `\uFEFF ${JSON.stringify(TRICKY, null, 2)} \n`]) {
      const rows = await rowsOf('json', text);
      expect(valuesOf(rows)).toEqual(TRICKY);
      expect(rows.map(({ row }) => row)).toEqual(TRICKY.map((_, n) => n + 1));
    }
    expect(await rowsOf('json', ' [ ] ')).toEqual([]);
  });

  it('are lines of JSON, without empty ones', async () => {
    const text = `\uFEFF${TRICKY.map((one) => JSON.stringify(one)).join('\r\n\n')}`;
    expect(valuesOf(await rowsOf('jsonl', text))).toEqual(TRICKY);
  });

  it('are records of CSV with quoted cells, lines in cells and a byte-order mark', async () => {
    const text = '\uFEFFa;b\r\n"x;""y""\nz";1\r\n\r\n2;3\r\n';
    expect(valuesOf(await rowsOf('csv', text, ';'))).toEqual([
      { a: 'x;"y"\nz', b: '1' },
      { a: '2', b: '3' },
    ]);
  });

  it('are refused in a CSV file that lacks a column of the mapping', async () => {
    const path = join(folder, 'columns');
    await writeFile(path, 'a,b\n1,2\n');
    const rows = (columns: readonly string[]) =>
      readRows(path, { format: 'csv', delimiter: ',' }, () => undefined, columns);
    expect((await rows(['b', 'a']).next()).value).toMatchObject({ values: { a: '1', b: '2' } });
    await expect(rows(['a', 'B']).next()).rejects.toThrow('no column “B”');
  });

  it.each([
    ['json', '{"a":1}', 'not one array'],
    ['json', '[{"a":1}', 'not one complete array'],
    ['json', '[{"a":1}] x', 'not one array'],
    ['json', '{"data":[{"a":1}]}', 'jq .data'],
    ['csv', 'sep=;\na;b\n1;2\n', 'which only Excel reads'],
    ['csv', '"a\\"x",b\n1,2\n', 'names of the columns cannot be read'],
    ['json', `[{"a":"${'x'.repeat(MAX_ROW_BYTES)}"}]`, 'more than'],
    ['jsonl', `{"a":"${'x'.repeat(MAX_ROW_BYTES)}"}`, 'more than'],
    ['csv', '', 'no line with the names'],
    // A file without a line of names: its first line is of a person.
    ['csv', 'a,\u001b[31mperson,\u001b[31mperson\n', 'The columns 2 and 3 have the same name in the first line'],
    ['csv', Buffer.from('id,a\nJosé,1\n', 'latin1'), 'is not UTF-8'],
    ['csv', Buffer.from('id,a\nJosé,é', 'utf8').subarray(0, -1), 'is not UTF-8'],
    ['csv', Buffer.from('\uFEFFid,a\nx,1\n', 'utf16le'), 'is not UTF-8'],
    ['csv', 'a,b\n"1,2\n', 'is not CSV after row 0'],
    ['csv', `a\n"${'x'.repeat(MAX_ROW_BYTES + 10)}"\n`, 'is not CSV after row 0'],
  ] as const)('cannot be read in a %s file that is damaged or hostile (%#)', async (format, text, message) => {
    await expect(rowsOf(format, text)).rejects.toThrow(message);
  });

  it('are wrong alone where a quotation mark is in the wrong place', async () => {
    const text = 'a,b\n1,x\n2,"Mozilla \\"y\\", z"\n3,"q ""r"" s"\n4,"s\\"t"\n5,u\n';
    const rows = await rowsOf('csv', text);
    expect(rows.map(({ row, values }) => [row, values?.a ?? null])).toEqual([
      [1, '1'],
      [2, null],
      [3, '3'],
      [4, null],
      [5, '5'],
    ]);
    expect(rows[1]?.problem).toContain('quotation mark');
  });

  it('have no columns at their end that Excel left empty', async () => {
    expect(valuesOf(await rowsOf('csv', 'a,b,,\n1,2,,\n3,4\n'))).toEqual([
      { a: '1', b: '2' },
      { a: '3', b: '4' },
    ]);
    expect((await rowsOf('csv', 'a,b,,\n1,2,x,\n'))[0]?.values).toBeNull();
  });

  it('are wrong one by one where only they are damaged', async () => {
    const text = '{"a":1}\n{"a":1,"a":2}\n[1]\n{"__proto__":1}\nnull\n{"a":\n{"a":3}';
    const rows = await rowsOf('jsonl', text);
    expect(rows.filter(({ values }) => values !== null).map(({ row }) => row)).toEqual([1, 7]);
    expect(rows[1]?.problem).toBe('is not strict JSON (duplicate-key)');
  });
});

const VERSION = {
  id: '019d0b7e-52a5-7a5e-9f2e-6d35a2d1c001',
  kind: 'cookie_policy',
  language: 'en',
  contentSha256: '',
};

/** What rows are read with. @param members of the mapping, beside the least that one has */
function importing(members: object) {
  const mapping = parseMapping(
    JSON.stringify({
      tool: 'T',
      format: 'csv',
      claimed_at: { column: 'at' },
      decision: { value: 'accepted' },
      consent_type: { value: 'cookie' },
      document_version_id: { value: VERSION.id },
      ...members,
    }),
  );
  const published = SiteConfigPublishedRecord.parse(configuration(SITE, 1, Date.now()));
  const optional = published.categories
    .filter(({ required }) => !required)
    .map((one) => ({ ...one, key: 'marketing' }));
  const record = { ...published, categories: [...published.categories, ...optional] };
  const versions = new Map([[VERSION.id, VERSION]]);
  return { mapping, config: { sha256: '', record }, versions, clock: Date.now };
}

/** Maps a row. @param members of the mapping, beside the least that one has */
function mappedRow(members: object, values: JsonObject): MappedRow {
  const context = importing(members);
  return mapRow(values, { ...context, now: Date.now(), items: itemsOfLists(context.mapping) });
}

/** The decision and the categories of a row, or why it is wrong. */
function statedBy(members: object, values: JsonObject): unknown {
  const row = mappedRow(members, { at: '2024-03-01T08:15:00Z', ...values });
  if (!row.isRight) return row.problems.map(({ reason }) => reason).join();
  const { decision, categories } = row.stated.consent.request;
  return [decision, ...Object.values(categories ?? {})];
}

/** Checks a whole file. */
async function checked(members: object, content: string) {
  const path = join(folder, 'checked');
  await writeFile(path, content);
  return checkFile(
    path,
    importing(members),
    async () => undefined,
    () => undefined,
  );
}

describe('a mapping', () => {
  it('finds a row wrong that has a character which no verifier reads', () => {
    const members = { record_id: { column: 'id' }, person: { user_agent: { column: 'ua' } } };
    const at = '2024-03-01T08:15:00Z';
    expect(mappedRow(members, { at, id: '1', ua: 'Mozilla/5.0' }).isRight).toBe(true);
    const reason = 'contains U+0000';
    expect(mappedRow(members, { at, id: '\0', ua: 'a\0b' })).toEqual({
      isRight: false,
      problems: [
        { column: 'id', reason },
        { column: 'ua', reason },
      ],
    });
  });

  const LISTS = {
    decision: 'from_categories',
    categories: {
      analytics: { column: 'list', contains: 'analytics', ignore: ['necessary'] },
      marketing: { column: 'list', contains: 'ads' },
    },
  };
  const unknown = expect.stringContaining('neither names nor ignores');

  it.each([
    ['', ['rejected', false, false]],
    ['necessary', ['rejected', false, false]],
    ['necessary, analytics', ['partial', true, false]],
    ['ads,analytics', ['accepted', true, true]],
    // Lists that are written otherwise, each of which once was a refusal.
    ['analytics;ads', unknown],
    ['analytics|ads', unknown],
    ['analytics ads', unknown],
    ['Analytics', unknown],
    ['["analytics","ads"]', unknown],
    ['analytics:yes', unknown],
    [[{ analytics: true }], unknown],
  ])('takes no unknown item of a list for a refusal: %j', (list, stated) => {
    expect(statedBy(LISTS, { list })).toEqual(stated);
  });

  it('says by which separator and in which case the items of a list are written', () => {
    const choice = (contains: string) => ({ column: 'list', contains, separator: ';', case: 'ignored' });
    const categories = { analytics: choice('analytics'), marketing: choice('ads') };
    expect(statedBy({ ...LISTS, categories }, { list: 'ADS; Analytics' })).toEqual(['accepted', true, true]);
  });

  it('takes no unknown id in a list of objects, and no unknown text, for its default', () => {
    const values = { yes: true, no: false };
    const member = { column: 'list', id: 'id', is: 'p1', member: 'state', values, default: false };
    const inList = { decision: 'from_categories', categories: { marketing: member } };
    expect(statedBy(inList, { list: [{ id: 'p1', state: 'yes' }] })).toEqual(['partial', true]);
    expect(statedBy(inList, { list: [{ id: 'P1', state: 'yes' }] })).toEqual(unknown);
    expect(statedBy(inList, { list: [{ id: 'p1', state: 'perhaps' }] })).toContain('does not name');
    const ofDecision = { decision: { column: 'd', values: { yes: 'accepted' }, default: 'rejected' } };
    expect(statedBy(ofDecision, { d: 'ja' })).toContain('does not name');
    expect(statedBy(ofDecision, { d: '' })).toEqual(['rejected']);
  });

  it('counts what a file says, and names the items that no row has', async () => {
    const time = '2024-03-01T08:15:00Z';
    const found = await checked(LISTS, `at,list\n${time},\n${time},analytics\n${time},Ads\n`);
    expect(found).toMatchObject({
      rows: 3,
      wrongRows: 1,
      decisions: { rejected: 1, partial: 1 },
      unusedItems: ['ads'],
      categories: { analytics: { accepted: 1, refused: 1 }, marketing: { accepted: 0, refused: 2 } },
    });
  });

  it.each([
    ['iso', '2024-01-01 10:00:00.123456+00', '2024-01-01T10:00:00.123Z'],
    ['iso', '2024-01-01 10:00:00.123456 UTC', '2024-01-01T10:00:00.123Z'],
    ['iso', '2024-01-01T12:00:00.000+0200', '2024-01-01T10:00:00.000Z'],
    ['iso_utc', '2024-01-01 12:00:00+02', '2024-01-01T10:00:00.000Z'],
    ['iso_utc', '2024-01-01 10:00:00', '2024-01-01T10:00:00.000Z'],
    ['unix', '1704103200', '2024-01-01T10:00:00.000Z'],
    ['unix_ms', '1704103200', 'before 1995'],
    ['unix_ms', '0', 'before 1995'],
    ['iso', '0001-01-01T00:00:00Z', 'before 1995'],
    ['unix', '1704103200000', 'is not a time since 1970'],
  ])('reads the time %s of %s', (format, at, expected) => {
    const row = mappedRow({ claimed_at: { column: 'at', format } }, { at });
    const found = row.isRight
      ? new Date(row.stated.claimedAt).toISOString()
      : row.problems.map(({ reason }) => reason).join();
    expect(found).toContain(expected);
  });

  it('says of a masked address what to do', () => {
    const members = { person: { ip_address: { column: 'ip' } } };
    for (const ip of ['192.0.2.xxx', '192.0.2.***'])
      expect(statedBy(members, { ip })).toContain('write the masked part of an address as 0');
  });

  it('gives no decision to a row in which no category is found', () => {
    const decisionOf = (categories: object, values: JsonObject): string => {
      const row = mappedRow({ decision: 'from_categories', categories }, { at: '2024-03-01T08:15:00Z', ...values });
      return row.isRight ? row.stated.consent.request.decision : row.problems.map(({ reason }) => reason).join();
    };
    const both = { analytics: { column: 'a', contains: 'x' }, marketing: { column: 'a', contains: 'y' } };
    expect(decisionOf(both, { a: 'x,y' })).toBe('accepted');
    expect(decisionOf(both, { a: null })).toBe('rejected');
    expect(decisionOf(both, { b: 'x' })).toContain('is missing');
    const analytics = { analytics: { column: 'a', values: { 1: true, 0: false } } };
    expect(decisionOf(analytics, { a: '1' })).toBe('partial');
    expect(decisionOf(analytics, { a: '' })).toContain('no decision follows');
  });

  it.each([
    ['a: &x [1]\nb: *x', 'neither YAML nor JSON'],
    ['- 1', 'must be an object'],
    ['{"tool":"a","tool":"b"}', 'neither YAML nor JSON'],
    ['tool: x\nunknown: 1', 'unknown'],
    ['tool: "T\\u202eT"', 'one line'],
    ['consent_type: { value: "a\\0b" }', 'consent_type'],
  ])('is refused if it is hostile or wrong (%#)', (text, message) => {
    expect(() => parseMapping(text)).toThrow(InvalidMapping);
    expect(() => parseMapping(text)).toThrow(message);
  });

  it('reads times in each format, and none that does not exist', () => {
    const timeOf = (format: string, at: string): number | string => {
      const mapped = mappedRow({ claimed_at: { column: 'at', format } }, { at });
      return mapped.isRight ? mapped.stated.claimedAt : (mapped.problems[0]?.reason ?? '');
    };
    const wanted = Date.parse('2024-03-01T08:15:00Z');
    expect(timeOf('iso', '2024-03-01T10:15:00+02:00')).toBe(wanted);
    expect(timeOf('iso', '2024-03-01T08:15:00')).toContain('ISO 8601');
    expect(timeOf('iso_utc', '2024-03-01 08:15:00')).toBe(wanted);
    expect(timeOf('iso_utc', '2024-03-01T08:15:00.0000000')).toBe(wanted);
    expect(timeOf('unix', String(wanted / 1000))).toBe(wanted);
    expect(timeOf('unix_ms', String(wanted))).toBe(wanted);
    expect(timeOf('unix', '1e400')).toBe('is not a time since 1970');
    expect(timeOf('unix', '')).toBe('is missing');
    expect(timeOf('iso', '2024-02-30T00:00:00Z')).toContain('ISO 8601');
  });
});
