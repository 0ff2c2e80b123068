import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import { mapRow } from '../../../src/pipeline/importer/map-row.js';
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

  it.each([
    ['json', '{"a":1}', 'not one array'],
    ['json', '[{"a":1}', 'not one complete array'],
    ['json', '[{"a":1}] x', 'not one array'],
    ['json', `[{"a":"${'x'.repeat(MAX_ROW_BYTES)}"}]`, 'more than'],
    ['jsonl', `{"a":"${'x'.repeat(MAX_ROW_BYTES)}"}`, 'more than'],
    ['csv', '', 'no line with the names'],
    ['csv', 'a,a\n1,2\n', 'two columns'],
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

describe('a mapping', () => {
  it.each([
    ['a: &x [1]\nb: *x', 'neither YAML nor JSON'],
    ['- 1', 'must be an object'],
    ['{"tool":"a","tool":"b"}', 'neither YAML nor JSON'],
    ['tool: x\nunknown: 1', 'unknown'],
  ])('is refused if it is hostile or wrong (%#)', (text, message) => {
    expect(() => parseMapping(text)).toThrow(InvalidMapping);
    expect(() => parseMapping(text)).toThrow(message);
  });

  it('reads times in each format, and none that does not exist', () => {
    const version = { id: 'v', kind: 'cookie_policy', language: 'en', contentSha256: '' };
    const id = '019d0b7e-52a5-7a5e-9f2e-6d35a2d1c001';
    const timeOf = (format: string, at: string): number | string => {
      const mapping = parseMapping(
        JSON.stringify({
          ...{ tool: 'T', format: 'csv', claimed_at: { column: 'at', format }, decision: { value: 'accepted' } },
          ...{ consent_type: { value: 'cookie' }, document_version_id: { value: id } },
        }),
      );
      const record = SiteConfigPublishedRecord.parse(configuration(SITE, 1, Date.now()));
      const mapped = mapRow(
        { at },
        { mapping, config: { sha256: '', record }, versions: new Map([[id, version]]), now: Date.now() },
      );
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
