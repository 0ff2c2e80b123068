import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { StatusItem } from '../../schemas/api/status.js';
import { VerifyResponse } from '../../schemas/api/verify.js';
import {
  ConfigurationChanged,
  checkFile,
  FileChanged,
  importFile,
  PRESETS,
  parseMapping,
  publishedVersions,
} from '../../src/pipeline/importer/index.js';
import { loadSite } from '../../src/tenancy/directory/site-directory.js';
import { ask, type RunningApp, startApp } from '../api/server/running-app.js';
import { Backend } from '../api/tool/export-fixture.js';
import { count } from '../pipeline/relay/pipeline.js';
import { endWaiting, holdGate, putGate, removeGate, waitsAtGate } from '../support/insert-gate.js';
import { bundleCommand } from '../verifier/bundled-command.js';
import { type CommandLine, type CommandResult, commandLine } from './command-line.js';

const PROGRAM = fileURLToPath(new URL('../../bin/consent-ledger.js', import.meta.url));
const example = (name: string): string => fileURLToPath(new URL(`../../docs/examples/import/${name}`, import.meta.url));

const Result = z.object({
  file_sha256: z.string(),
  mapping_sha256: z.string(),
  rows: z.int(),
  wrong_rows: z.int(),
  imported: z.int(),
  imported_before: z.int().nullable(),
  decisions: z.record(z.string(), z.int()),
  categories: z.record(z.string(), z.object({ accepted: z.int(), refused: z.int() })),
  unused_items: z.array(z.string()),
  first_wrong: z.array(z.object({ row: z.int(), column: z.string(), reason: z.string() })),
});
type Result = z.infer<typeof Result>;
const Status = z.object({ data: z.object({ consents: z.array(StatusItem) }) });

let app: RunningApp;
let line: CommandLine;
let backend: Backend;
let folder: string;
beforeAll(async () => {
  app = await startApp('serve');
  line = commandLine(app);
  backend = await Backend.of(app);
  folder = await mkdtemp(join(tmpdir(), 'consent-ledger-import-'));
});
afterAll(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

function imported(file: string, ...options: readonly string[]): Promise<CommandResult> {
  const { site } = backend.demo;
  const version = backend.version('cookie_policy');
  return line.run(['admin', 'import', file, '--site', site.id, '--document-version', version, '--json', ...options]);
}

async function result(file: string, ...options: readonly string[]): Promise<Result> {
  const { exitCode, stdout, stderr } = await imported(file, ...options);
  expect(exitCode, stderr).toBe(0);
  return Result.parse(JSON.parse(stdout));
}

const of = (preset: string): readonly string[] => ['--preset', preset, '--mapping', example(`${preset}.yaml`)];

async function status(visitor: string): Promise<StatusItem[]> {
  const query = `visitor_id=${encodeURIComponent(visitor)}`;
  const { body } = await ask(`${app.url}/tool/v1/consents/status?${query}`, {
    headers: { 'x-api-key': backend.demo.keys.read },
  });
  return Status.parse(body).data.consents;
}

const written = (name: string, content: string): Promise<string> =>
  writeFile(join(folder, name), content).then(() => join(folder, name));

const rowsOf = async (visitor: string): Promise<number> =>
  (await backend.page(`?visitor_id=${encodeURIComponent(visitor)}`)).data.length;

describe('consent-ledger admin import', () => {
  it('checks all rows with --dry-run, and writes nothing', async () => {
    const found = await result(example('cookiebot.csv'), ...of('cookiebot'), '--dry-run');
    expect(found).toMatchObject({ rows: 3, wrong_rows: 0, imported: 0, imported_before: null });
    expect(await count(app.superuser, 'imported_rows')).toBe(0);
  });

  it('ends a dry run as the import would, and imports nothing where an item is in no row', async () => {
    const row = (list: string): string => `{"at":"2024-03-01T08:15:00Z","visitor":"v-lists","list":"${list}"}`;
    const wrong = await written('lists.jsonl', [row('analytics'), row('other')].join('\n'));
    const right = await written('right-lists.jsonl', row('analytics'));
    const mapping = await written(
      'lists.yaml',
      `tool: House tool
format: jsonl
claimed_at: { column: at }
consent_type: { value: cookie }
decision: from_categories
categories:
  analytics: { column: list, contains: analytics }
  marketing: { column: list, contains: ads }
person: { visitor_id: { column: visitor } }
`,
    );
    const ends = async (file: string, ...options: readonly string[]) => {
      const { exitCode, stderr } = await imported(file, '--mapping', mapping, ...options);
      return `${exitCode} ${stderr}`;
    };
    expect(await ends(wrong, '--dry-run')).toMatch(/^1 .*1 row wrong/s);
    expect(await ends(right)).toMatch(/^1 .*No row has “ads”/s);
    expect(await rowsOf('v-lists')).toBe(0);
    expect(await ends(right, '--dry-run', '--allow-unused', 'ads')).toMatch(/^0 /);
  });

  it('imports the examples of the three presets once', async () => {
    for (const [preset, file, rows] of [
      ['cookiebot', 'cookiebot.csv', 3],
      ['onetrust', 'onetrust.jsonl', 2],
      ['c15t', 'c15t.jsonl', 2],
    ] as const) {
      expect(await result(example(file), ...of(preset)), preset).toMatchObject({ rows, imported: rows });
      const again = await imported(example(file), ...of(preset).filter((one) => one !== '--json'));
      expect(Result.parse(JSON.parse(again.stdout)), preset).toMatchObject({ imported: 0, imported_before: rows });
    }
    await expect.poll(() => count(app.superuser, `read_model.consents where channel = 'import'`)).toBe(7);
  });

  it('exports an imported consent with its source, and without what only a recorded one has', async () => {
    const [first, second, ...more] = (await backend.page('?visitor_id=key-of-visitor-1')).data;
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      channel: 'import',
      decision: 'partial',
      categories: { analytics: true, marketing: false },
      import: { tool: 'Cookiebot', claimed_at: '2024-03-01T08:15:00.000Z', row: 1, imported_by: 'operator' },
      api_key_id: null,
      identity_assurance: null,
      approval_token_id: null,
      vouched: [],
      source_record_id: 'key-of-visitor-1',
      ip_address: '192.0.2.0',
      user_agent: 'Mozilla/5.0',
      metadata: { url: 'https://shop.example/' },
    });
    expect(second).toMatchObject({ decision: 'rejected', import: { row: 3 } });
    const { data } = await backend.page('?visitor_id=onetrust-visitor-1');
    expect(data.map(({ decision, categories }) => ({ decision, categories }))).toEqual([
      { decision: 'partial', categories: { analytics: true, marketing: false } },
      { decision: 'rejected', categories: { analytics: false, marketing: false } },
    ]);
    const [c15t] = (await backend.page('?visitor_id=sub_1')).data;
    expect(c15t).toMatchObject({ decision: 'partial', valid_until: '2025-07-10T07:00:00.000Z' });
  });

  it('orders imported consents by their claimed times, and all of them after what was recorded here', async () => {
    const now = Date.now();
    const at = (days: number): string => new Date(now - days * 86_400_000).toISOString();
    const visitor = 'visitor-with-a-history';
    const row = (id: string, days: number, decision: string): string =>
      JSON.stringify({ id, visitor, at: at(days), decision });
    const file = await written('history.jsonl', [row('b', 5, 'withdrawn'), row('a', 9, 'accepted'), ''].join('\n'));
    const mapping = await written(
      'history.yaml',
      `tool: House tool
format: jsonl
record_id: { column: id }
claimed_at: { column: at }
consent_type: { value: cookie }
decision: { column: decision }
person: { visitor_id: { column: visitor } }
`,
    );
    await backend.record({ visitor_id: visitor, decision: 'accepted' });
    expect(await result(file, '--mapping', mapping)).toMatchObject({ imported: 2 });
    await expect.poll(async () => (await status(visitor)).length).toBe(3);
    const before = await status(visitor);
    expect(before.map(({ imported_from: tool, claimed_at: time }) => [tool, time])).toEqual([
      [null, null],
      ['House tool', at(5)],
      ['House tool', at(9)],
    ]);
    await backend.record({ visitor_id: visitor, decision: 'withdrawn' });
    await expect.poll(async () => (await status(visitor)).length).toBe(4);
    expect((await status(visitor)).map(({ decision }) => decision)).toEqual([
      'withdrawn',
      'accepted',
      'withdrawn',
      'accepted',
    ]);
  });

  it('counts no imported consent that is valid for longer than a newer one, which has expired', async () => {
    const at = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
    const rows = [
      { id: 'c', visitor: 'visitor-who-withdrew', at: at(9), until: at(-90), decision: 'accepted' },
      { id: 'd', visitor: 'visitor-who-withdrew', at: at(5), until: at(1), decision: 'withdrawn' },
      { id: 'e', visitor: 'visitor-who-accepted', at: at(9), until: at(1), decision: 'withdrawn' },
      { id: 'f', visitor: 'visitor-who-accepted', at: at(5), until: at(-90), decision: 'accepted' },
    ];
    const file = await written('expired.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const mapping = await written(
      'expired.yaml',
      `tool: House tool
format: jsonl
record_id: { column: id }
claimed_at: { column: at }
valid_until: { column: until }
consent_type: { value: cookie }
decision: { column: decision }
person: { visitor_id: { column: visitor } }
`,
    );
    expect(await result(file, '--mapping', mapping)).toMatchObject({ imported: 4 });
    await expect.poll(() => rowsOf('visitor-who-accepted')).toBe(2);
    await expect
      .poll(async () => (await status('visitor-who-accepted')).map(({ decision }) => decision))
      .toEqual(['accepted']);
    expect(await status('visitor-who-withdrew')).toEqual([]);
  });

  it('answers verify with the former tool and the time that it states', async () => {
    const [{ id } = { id: '' }] = (await backend.page('?visitor_id=key-of-visitor-2')).data;
    const verified = async () => {
      const { body } = await ask(`${app.url}/tool/v1/consents/verify/${id}`, {
        headers: { 'x-api-key': backend.demo.keys.read },
      });
      return VerifyResponse.parse(body);
    };
    await expect.poll(async () => (await verified()).data.is_tsa_stamped).toBe(true);
    expect(await verified()).toMatchObject({
      valid: true,
      data: {
        hash_valid: true,
        merkle_valid: true,
        imported_from: 'Cookiebot',
        claimed_at: '2024-03-02T09:30:12.000Z',
      },
    });
  });

  it('shows no imported consent whose claimed time was altered by SQL, which decides on the order', async () => {
    const visitor = 'onetrust-visitor-1';
    const [{ id } = { id: '' }] = (await backend.page(`?visitor_id=${visitor}`)).data;
    const change = (days: number) =>
      app.superuser.query(
        `update read_model.consents set claimed_at = claimed_at + make_interval(days => $2) where event_id = $1`,
        [id, days],
      );
    const validity = async () => {
      const headers = { 'x-api-key': backend.demo.keys.read };
      return VerifyResponse.parse((await ask(`${app.url}/tool/v1/consents/verify/${id}`, { headers })).body).valid;
    };
    await expect.poll(validity).toBe(true);
    await change(1);
    expect(await validity()).toBe(false);
    expect((await line.run(['audit'])).stdout).toContain(id);
    await change(-1);
    expect(await validity()).toBe(true);
  });

  it('lists every wrong row, and imports nothing', async () => {
    const file = await written(
      'wrong.csv',
      `Date,Key,Statistics,Marketing
2024-03-01T08:15:00,right,true,true
2024-13-01T08:15:00,secret-key-1,true,true
2999-01-01T00:00:00,secret-key-2,true,maybe
2024-03-01T08:15:00,,true,true
2024-03-01T08:15:00,secret-key-3
`,
    );
    expect((await imported(file, ...of('cookiebot'), '--rejects', file)).exitCode).toBe(2);
    const rejects = join(folder, 'rejects.jsonl');
    const { exitCode, stdout, stderr } = await imported(file, ...of('cookiebot'), '--rejects', rejects);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('4 rows wrong: nothing was imported');
    expect(Result.parse(JSON.parse(stdout))).toMatchObject({ rows: 5, wrong_rows: 4, imported: 0 });
    const text = await readFile(rejects, 'utf8');
    expect(
      text
        .split('\n')
        .filter((one) => one !== '')
        .map((one): unknown => JSON.parse(one)),
    ).toEqual([
      { row: 2, column: 'Date', reason: expect.any(String) },
      { row: 3, column: 'Date', reason: 'is after the import' },
      { row: 3, column: 'Marketing', reason: 'has a value that `values` of the mapping does not name' },
      { row: 4, column: 'Key', reason: 'is missing' },
      { row: 5, column: '', reason: 'has 2 cells, and the file has 4 columns' },
    ]);
    expect(text + stdout + stderr + app.log()).not.toContain('secret-key');
    expect(await rowsOf('right')).toBe(0);

    expect(await result(file, ...of('cookiebot'), '--skip-wrong-rows')).toMatchObject({ wrong_rows: 4, imported: 1 });
    await expect.poll(() => rowsOf('right')).toBe(1);
  });

  it('runs every line of docs/import.md', async () => {
    const page = await readFile(new URL('../../docs/import.md', import.meta.url), 'utf8');
    const [block = ''] = [...page.matchAll(/```yaml\n([^`]*)```/g)].map(([, text = '']) => text);
    expect(block).toBe(await readFile(example('house-tool.yaml'), 'utf8'));
    const commands = [...page.matchAll(/```sh\n([^`]*)```/g)].flatMap(([, text = '']) => text.trim().split('\n'));
    expect(commands).toHaveLength(7);
    const command = bundleCommand();
    onTestFinished(() => command.remove());
    const { dataDir } = app.service.installation.config;
    await copyFile(
      join(dataDir, 'development-tsa/development-tsa-root.pem'),
      join(command.folder, 'development-tsa-root.pem'),
    );
    await copyFile(join(dataDir, 'ledger.vkey'), join(command.folder, 'ledger.vkey'));
    const values: Readonly<Record<string, string>> = {
      '<id>': backend.demo.site.id,
      '<version>': backend.version('cookie_policy'),
      'imported.zip': join(command.folder, 'imported.zip'),
    };
    for (const text of commands) {
      const [, program, ...args] = text.split(' ').map((word) => values[word] ?? word);
      if (program === 'consent-ledger') {
        const { exitCode, stderr } = await line.run(args);
        expect(exitCode, `${text}: ${stderr}`).toBe(0);
        continue;
      }
      // The development authority makes no evidence.
      const { stdout, status } = command.run(...args);
      expect([0, 3], text).toContain(status);
      expect(stdout).toContain('accepted (imported from House tool)');
      expect(stdout).toContain('withdrawn (imported from House tool)');
      expect(stdout).toContain('(imported from Cookiebot)');
    }
  });

  it('continues after a kill in the middle, and doubles nothing', async () => {
    const rows = 2_000;
    const lines = Array.from({ length: rows }, (_, n) => `2024-03-01T08:15:00,key ${n},${n % 2 === 0},false`);
    const file = await written('many.csv', ['Date,Key,Statistics,Marketing', ...lines, ''].join('\n'));
    const { config, databaseUrl } = app.service.installation;
    const args = ['--site', backend.demo.site.id, '--document-version', backend.version('cookie_policy')];
    const before = await count(app.superuser, 'imported_rows');
    // The import waits with its third block until the test has killed it.
    await putGate(app.superuser, 'imported_rows', `(select count(*) from imported_rows) >= ${before + 400}`);
    await holdGate(app.superuser, async () => {
      const child = spawn(process.execPath, [PROGRAM, 'admin', 'import', file, ...args, ...of('cookiebot')], {
        env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, DATA_DIR: config.dataDir },
        stdio: 'ignore',
      });
      await waitsAtGate(app.superuser);
      const killed = once(child, 'exit');
      child.kill('SIGKILL');
      await killed;
      await endWaiting(app.superuser);
    });
    await removeGate(app.superuser, 'imported_rows');
    const first = (await count(app.superuser, 'imported_rows')) - before;
    expect(first).toBe(400);
    expect(await result(file, ...of('cookiebot'))).toMatchObject({ imported: rows - first, imported_before: first });
    await expect
      .poll(() => count(app.superuser, `read_model.consents where claimed_at = '2024-03-01T08:15:00Z'`))
      .toBe(rows + 2);
    expect(await rowsOf('key 1999')).toBe(1);
  });

  it('stops at a file that changed after its check, and goes on after a change of the site', async () => {
    const { adminPool, keyring, random } = app.service.installation;
    const { id } = backend.demo.site;
    const reload = () => loadSite(adminPool, keyring, id);
    const site = await reload();
    const { config } = site;
    if (config === null) throw new Error('the site has no configuration');
    const version = backend.version('cookie_policy');
    const text = await readFile(example('cookiebot.yaml'), 'utf8');
    const preset = { ...PRESETS.cookiebot, document_version_id: { value: version } };
    const mapping = parseMapping(text, preset);
    const versions = await publishedVersions(adminPool, keyring, id);
    const importing = { site, config, versions, mapping, clock: Date.now };
    const csv = (key: string): string => `Date,Key,Statistics,Marketing\n2024-03-01T08:15:00,${key},true,true\n`;
    const file = await written('changed.csv', csv('checked key'));
    const nothing = async (): Promise<void> => undefined;
    const checked = await checkFile(file, importing, nothing, () => undefined);
    const options = { db: adminPool, random, reload, beforeBlock: nothing, onRows: () => undefined };
    const before = await count(app.superuser, 'imported_rows');
    await writeFile(file, csv('another key'));
    await expect(importFile(checked, importing, options)).rejects.toThrow(FileChanged);
    expect(await count(app.superuser, 'imported_rows')).toBe(before);

    await writeFile(file, csv('checked key'));
    await app.superuser.query('update sites set config_revision = config_revision + 1 where id = $1', [id]);
    const other = { ...importing, config: { ...config, sha256: '0'.repeat(64) } };
    await expect(importFile(checked, other, options)).rejects.toThrow(ConfigurationChanged);
    expect(await importFile(checked, importing, options)).toEqual({ imported: 1, known: 0 });
  });

  it('refuses a mapping that is incomplete, and a category that the site does not have', async () => {
    const site = ['--site', backend.demo.site.id];
    const incomplete = await line.run(['admin', 'import', example('cookiebot.csv'), ...site, '--preset', 'cookiebot']);
    expect(incomplete).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('document_version_id') });
    const unknown = await imported(example('cookiebot.csv'), '--preset', 'cookiebot');
    expect(unknown.stderr).toContain('has no category preferences, statistics');
    const array = await written('not-an-array.json', '{"id":1}');
    const wrong = await imported(array, '--mapping', example('house-tool.yaml'));
    expect(wrong).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('not one array of JSON') });
    // Without the check, all persons would have refused.
    const renamed = await written('renamed.csv', 'Date,Key,statistics,Marketing\n2024-03-01T08:15:00,key,1,1\n');
    const missing = await imported(renamed, ...of('cookiebot'));
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no column “Statistics”, which') });
  });

  it('does not bring an erased person back when the same file is imported again', async () => {
    await line.json('admin', 'erase', '--site', backend.demo.site.id, '--visitor', 'key-of-visitor-2');
    expect(await status('key-of-visitor-2')).toEqual([]);
    expect(await result(example('cookiebot.csv'), ...of('cookiebot'))).toMatchObject({
      imported: 0,
      imported_before: 3,
    });
    expect(await rowsOf('key-of-visitor-2')).toBe(0);
  });

  it('finds no disagreement in an installation with imported consents', async () => {
    const { exitCode, stdout } = await line.run(['audit', '--json']);
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
  });

  it('counts imported consents apart, and writes the import to the audit log', async () => {
    const { rows } = await app.superuser.query(
      `select sum(consents)::int as consents, sum(imported)::int as imported from read_model.daily_counts`,
    );
    expect(rows).toEqual([{ consents: 2, imported: 2_017 }]);
    const entries = await app.superuser.query(`select details from audit_log where action = 'consent.import'`);
    expect(entries.rowCount).toBeGreaterThan(3);
  });
});
