import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { type MappedRow, mapRow } from '../../../src/pipeline/importer/map-row.js';
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

/** Maps a row. @param members of the mapping, beside the least that one has */
function mappedRow(members: object, values: JsonObject): MappedRow {
  const mapping = parseMapping(
    JSON.stringify({
      ...{ tool: 'T', format: 'csv', claimed_at: { column: 'at' }, decision: { value: 'accepted' } },
      ...{ consent_type: { value: 'cookie' }, document_version_id: { value: VERSION.id }, ...members },
    }),
  );
  const published = SiteConfigPublishedRecord.parse(configuration(SITE, 1, Date.now()));
  const optional = published.categories
    .filter(({ required }) => !required)
    .map((one) => ({ ...one, key: 'marketing' }));
  const record = { ...published, categories: [...published.categories, ...optional] };
  const versions = new Map([[VERSION.id, VERSION]]);
  return mapRow(values, { mapping, config: { sha256: '', record }, versions, now: Date.now() });
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
