import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { EXPORTED_FIELDS } from '../../../schemas/api/export.js';
import { csvLine, excelDialect } from '../../../src/api/tool/export-lines.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { until } from '../../support/wait.js';
import { type RunningApp, startApp } from '../server/running-app.js';
import { Backend } from './export-fixture.js';

const hasPython = spawnSync('python3', ['--version']).status === 0;
const Rows = z.array(z.record(z.string(), z.string()));

/** The rows of CSV, by another reader. */
function readByPython(text: string): z.infer<typeof Rows> {
  const script =
    'import csv, io, json, sys; csv.field_size_limit(10**9); print(json.dumps(list(csv.DictReader(io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", newline="")))))';
  const { stdout, stderr } = spawnSync('python3', ['-c', script], {
    input: text,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  expect(stderr).toBe('');
  return Rows.parse(JSON.parse(stdout));
}

describe('a line of CSV', () => {
  it.each([
    ['nothing', null, ''],
    ['an absent value', undefined, ''],
    ['a number', -1.5, '-1.5'],
    ['a flag', false, 'false'],
    ['quotation marks, commas and line feeds', 'a "b", c\nd', '"a ""b"", c\nd"'],
    ['a list', [1, 'a'], '"[1,""a""]"'],
    ['a formula', '=HYPERLINK("https://evil.example")', '"\'=HYPERLINK(""https://evil.example"")"'],
    ['another formula', '@SUM(A1)', "'@SUM(A1)"],
    ['a formula in full-width signs', '＝1＋1', "'＝1＋1"],
    ['a formula below a line feed', '\n=1+1', '"\'\n\'=1+1"'],
    ['a formula behind a semicolon', 'a;=1+1', '"a;\'=1+1"'],
    ['a formula in an object', { a: ';=1+1' }, '"{""a"":"";\'=1+1""}"'],
    ['a telephone number', '+90 555', "'+90 555"],
  ])('has %s', (_, value, text) => {
    expect(csvLine([value, 'x'])).toBe(`${text},x\r\n`);
  });

  it.each([
    ['tr-TR', ';'],
    ['tr_TR', ';'],
    ['de', ';'],
    ['pt-BR', ';'],
    ['en-ZA', ';'],
    ['ar-MA', ';'],
    ['en-GB', ','],
    ['es-MX', ','],
    ['ja', ','],
  ])('for Excel in %s begins with a byte-order mark and separates cells by %s', (language, separator) => {
    const dialect = excelDialect(language);
    expect(dialect).toEqual({ mark: '\uFEFF', separator });
    expect(csvLine(['a,b', 'c;d', '=1;2'], dialect)).toBe(`"a,b"${separator}"c;d"${separator}"'=1;2"\r\n`);
  });
});

describe('the record export as CSV, and with chosen fields', () => {
  let app: RunningApp;
  let shop: Backend;
  beforeAll(async () => {
    app = await startApp('serve', { ERASURE_ANNOUNCE_INTERVAL_SECONDS: '1' });
    shop = await Backend.of(app);
    for (const visitor_id of ['=1+1', 'Ayşe "the, buyer"\nof Ankara', 'plain'])
      await shop.record({ visitor_id, metadata: { page: '/a,b', list: [1, '"'] } });
    await until(async () => (await app.superuser.query('select from read_model.consents')).rowCount === 3);
  });
  afterAll(() => app.stop());

  it.skipIf(!hasPython)(titleNeeding('python3', hasPython, 'another reader finds what NDJSON has'), async () => {
    const answer = await shop.export('', { accept: 'text/csv' });
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    const rows = readByPython(await answer.text());
    const lines = (await (await shop.export('?format=ndjson')).text()).trimEnd().split('\n');
    const records = z.array(z.record(z.string(), z.unknown())).parse(lines.map((line) => JSON.parse(line)));
    expect(rows.map((row) => Object.keys(row))).toEqual(records.map(() => EXPORTED_FIELDS));
    for (const [i, record] of records.entries())
      for (const [name, value] of Object.entries(record)) {
        const exact = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
        expect(rows[i]?.[name], name).toBe(/^[=+\-@]/.test(exact) ? `'${exact}` : exact);
      }
  });

  it('has the chosen fields alone, and the cursor, in every format', async () => {
    const fields = 'fields=decision,visitor_id';
    const csv = (await (await shop.export(`?format=csv&${fields}&limit=1`)).text()).split('\r\n');
    expect(csv[0]).toBe('decision,visitor_id,cursor');
    expect(csv[1]).toMatch(/^accepted,'=1\+1,/);
    const rest = await shop.export(`?format=csv&${fields}&cursor=${csv[1]?.split(',')[2]}`);
    expect((await rest.text()).match(/^accepted,/gm)).toHaveLength(2);
    const ndjson = (await (await shop.export(`?format=ndjson&${fields}`)).text()).split('\n')[0] ?? '';
    expect(Object.keys(z.record(z.string(), z.unknown()).parse(JSON.parse(ndjson)))).toEqual([
      'decision',
      'visitor_id',
      'cursor',
    ]);
    const json: unknown = await (await shop.export(`?${fields}`)).json();
    expect(json).toMatchObject({ data: [{ decision: 'accepted', visitor_id: '=1+1' }, {}, {}], next_cursor: null });
    expect(JSON.stringify(json)).not.toContain('proof_hash');
  });

  it('opens in Excel in the language of the caller: a byte-order mark, and its separator', async () => {
    const bytesOf = async (query: string): Promise<string> =>
      Buffer.from(await (await shop.export(`?format=csv&fields=decision,visitor_id${query}`)).arrayBuffer()).toString();
    const plain = await bytesOf('');
    expect(plain).toMatch(/^decision,visitor_id,cursor\r\naccepted,'=1\+1,/);
    expect(await bytesOf('&excel=en-GB')).toBe(`\uFEFF${plain}`);
    const turkish = await bytesOf('&excel=tr-TR');
    expect(turkish).toMatch(/^\uFEFFdecision;visitor_id;cursor\r\naccepted;'=1\+1;/);
    expect(turkish).toContain('\r\naccepted;"Ayşe ""the, buyer""\nof Ankara";');
    const { rows } = await app.superuser.query(
      "select details from audit_log where action = 'consent.export' order by seq desc limit 1",
    );
    expect(rows).toMatchObject([{ details: { filter: [] } }]);
  });

  it.each([
    ...['fields=name', 'fields=', 'fields=id,id', 'fields=id,,decision', 'format=xml'],
    ...['format=csv&excel=', 'format=csv&excel=english', 'excel=tr', 'format=ndjson&excel=tr'],
  ])('refuses %s', async (query) => {
    expect(await shop.wrongFields(`?${query}`)).toEqual([expect.stringMatching(/^(fields|format|excel)/)]);
  });

  it('notes the chosen fields in the audit log', async () => {
    await shop.export('?format=csv&fields=id,signer_name');
    const { rows } = await app.superuser.query(
      "select details from audit_log where action = 'consent.export' order by seq desc limit 1",
    );
    expect(rows).toMatchObject([{ details: { fields: ['id', 'signer_name'], filter: [] } }]);
  });

  it('has a row for each erasure, with its time', async () => {
    const before = (await (await shop.export('?format=csv&include_erasures=true&fields=decision')).text()).split(
      '\r\n',
    );
    expect(before[0]).toBe('decision,id,erased_at,cursor');
    await shop.erase('plain');
    await expect
      .poll(async () => (await shop.export('?format=csv&include_erasures=true&fields=decision')).text())
      .toMatch(/^,[0-9a-f-]{36},\d{4}-.*Z,[^,]+\r$/m);
  });
});
