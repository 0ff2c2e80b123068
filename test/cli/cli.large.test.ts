import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DEMO_CONFIG } from '../../src/demo/seed/demo-texts.js';
import { ask, type RunningApp, startApp } from '../api/server/running-app.js';
import { type CommandLine, commandLine } from './command-line.js';

const PROGRAM = fileURLToPath(new URL('../../bin/consent-ledger.js', import.meta.url));
const Seeded = z.strictObject({
  tenant_id: z.uuid(),
  site: z.strictObject({ id: z.uuid(), domain: z.string() }),
  keys: z.strictObject({ read: z.string(), write: z.string() }),
  api_user: z.strictObject({ email: z.email(), password: z.string() }),
  panel_user: z.strictObject({ email: z.email(), password: z.string() }),
  categories: z.array(z.string()).min(1),
  documents: z.array(
    z.strictObject({
      id: z.uuid(),
      slug: z.string(),
      kind: z.string(),
      requires_approval_token: z.boolean(),
      versions: z.array(z.strictObject({ id: z.uuid(), language: z.string(), number: z.int(), state: z.string() })),
    }),
  ),
  tsa_ca: z.string(),
  ledger_key: z.string(),
});

const LEDGER = fileURLToPath(new URL('../../bin/consent-ledger.js', import.meta.url));

it('the command ends quietly when its output is closed', () => {
  const script = '{ "$0" "$1" --help; echo "$?" >&2; } | true';
  const { stderr } = spawnSync('sh', ['-c', script, process.execPath, PROGRAM], { encoding: 'utf8' });
  expect(stderr).toBe('141\n');
});

describe('consent-ledger', () => {
  let app: RunningApp;
  let folder: string;
  beforeAll(async () => {
    app = await startApp('serve');
    line = commandLine(app);
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-cli-'));
  });
  afterAll(async () => {
    await app.stop();
    await rm(folder, { recursive: true, force: true });
  });

  let line: CommandLine;
  const run: CommandLine['run'] = (...args) => line.run(...args);
  const json: CommandLine['json'] = (...args) => line.json(...args);
  const Made = z.looseObject({ id: z.string() });
  const Created = z.object({ data: Made }).transform(({ data }) => data);

  it('creates a new demonstration tenant at each call, and prints one JSON object', async () => {
    const [one, two] = [Seeded.parse(await json('admin', 'seed-demo')), Seeded.parse(await json('admin', 'seed-demo'))];
    expect(one.site.id).not.toBe(two.site.id);
    for (const document of one.documents) {
      const states = document.versions.map(({ language, state }) => `${language} ${state}`);
      expect(states).toEqual(expect.arrayContaining(['en active', 'tr active']));
      expect(states.some((state) => state.endsWith('retired'))).toBe(true);
    }
    expect(one.documents.map(({ kind }) => kind)).toContain('cookie_policy');
    expect(one.documents.some((document) => document.requires_approval_token)).toBe(true);
    expect(await readFile(one.tsa_ca, 'utf8')).toContain('BEGIN CERTIFICATE');
    expect(await readFile(one.ledger_key, 'utf8')).toMatch(/^localhost\/consent-ledger\+[0-9a-f]{8}\+/);
    const states = await app.superuser.query(
      'select document_id, language, number, state from document_versions where site_id = $1',
      [one.site.id],
    );
    for (const document of one.documents) {
      for (const { language, number, state } of document.versions) {
        expect(states.rows).toContainEqual({ document_id: document.id, language, number, state });
      }
    }
    const ping = await ask(`${app.url}/tool/v1/ping`, { headers: { 'x-api-key': one.keys.read } });
    expect(ping.headers.get('x-ratelimit-limit')).toBe('120');
  });

  it('applies the options of a demonstration tenant', async () => {
    const options = [
      '--quota',
      '7',
      '--rate-limit',
      '9',
      '--unverified',
      '--allowed-origin',
      'https://a.example',
      '--allowed-ip',
      '10.0.0.0/8',
    ];
    const seeded = Seeded.parse(await json('admin', 'seed-demo', ...options));
    const { rows } = await app.superuser.query(
      `select s.verified_at, s.allowed_origins, s.allowed_ips::text[] as ips, p.consent_quota, p.rate_limit_per_minute
         from sites s join subscriptions p using (tenant_id) where s.id = $1`,
      [seeded.site.id],
    );
    expect(rows).toEqual([
      {
        verified_at: null,
        allowed_origins: ['https://a.example'],
        ips: ['10.0.0.0/8'],
        consent_quota: 7,
        rate_limit_per_minute: 9,
      },
    ]);
    const without = Seeded.parse(await json('admin', 'seed-demo', '--no-subscription'));
    const subscriptions = await app.superuser.query('select from subscriptions where tenant_id = $1', [
      without.tenant_id,
    ]);
    expect(subscriptions.rowCount).toBe(0);
  });

  it('sets up a tenant, and changes its texts', async () => {
    const tenant = Made.parse(await json('admin', 'tenant', 'create', '--name', 'Shop'));
    const about = ['--tenant', tenant.id, '--name', 'Shop', '--domain', 'shop.example'];
    const site = Created.parse(await json('admin', 'site', 'create', ...about));
    await json('admin', 'site', 'verify', site.id);
    const at = ['--site', site.id];
    const { data: key } = z
      .object({ data: z.object({ key: z.string() }) })
      .parse(await json('admin', 'api-key', 'create', ...at, '--scope', 'read'));
    await json('admin', 'user', 'create', '--tenant', tenant.id, '--email', `a@${site.id}.example`, '--role', 'owner');
    const file = join(folder, 'config.json');
    await writeFile(file, JSON.stringify(DEMO_CONFIG));
    await json('admin', 'site', 'configure', site.id, '--file', file);
    const text = join(folder, 'terms.txt');
    await writeFile(text, 'Şartlar');
    const terms = Created.parse(await json('admin', 'document', 'create', ...at, '--slug', 'terms', '--kind', 'terms'));
    const version = (command: string, ...args: string[]) =>
      json('admin', 'document-version', command, ...at, terms.id, ...args);
    const publish = async () => {
      const content = ['--media-type', 'text/plain', '--content', `@${text}`];
      const { id } = Created.parse(await version('create', '--language', 'tr', '--title', 'T', ...content));
      await version('publish', id);
      return id;
    };
    const first = await publish();
    await version('activate', first);
    const second = await publish();
    expect(await version('activate', second)).toMatchObject({ data: { state: 'active' }, retired_version_id: first });
    const document = await ask(`${app.url}/tool/v1/documents/terms/active`, { headers: { 'x-api-key': key.key } });
    expect(document).toMatchObject({
      status: 200,
      body: { data: { content: 'Şartlar', version: { id: second, number: 2 } } },
    });
    await version('retire', second);
  });

  it('counts, erases, and manages projections', async () => {
    const seeded = Seeded.parse(await json('admin', 'seed-demo'));
    const counts = z.looseObject({ log_events: z.int(), outbox_waiting: z.int() });
    await expect
      .poll(async () => counts.parse(await json('admin', 'count', '--site', seeded.site.id)).log_events, {
        interval: 300,
      })
      .toBeGreaterThan(10);
    expect(await json('admin', 'erase', '--site', seeded.site.id, '--visitor', 'nobody')).toMatchObject({
      erased_records: 0,
    });
    expect(await json('admin', 'erase', '--site', seeded.site.id, '--visitor', 'nobody', '--dry-run')).toEqual({
      erased_records: 0,
      spellings: [{ spelling: 'nobody', is_exact: true, records: 0, has_more: false }],
    });
    expect(await json('projections', 'list')).toMatchObject({
      projections: expect.arrayContaining([expect.objectContaining({ name: 'consents' })]),
    });
    expect(await json('projections', 'status')).toHaveProperty('projections');
    expect(await json('projections', 'rebuild', 'notices')).toMatchObject({ name: 'notices', swapped: true });
    const file = 'docs/examples/withdrawals-by-language.mjs';
    expect(await json('projections', 'rebuild', '--file', file)).toMatchObject({ swapped: true, equal: null });
    expect(await json('projections', 'rebuild', '--file', file)).toMatchObject({ swapped: true, equal: true });
    const ofFile = { name: 'withdrawals_by_language', source: 'file' };
    for (const command of ['list', 'status'])
      expect(await json('projections', command)).toMatchObject({
        projections: expect.arrayContaining([expect.objectContaining(ofFile)]),
      });
    expect(await json('projections', 'remove', ofFile.name)).toEqual({ name: ofFile.name, removed: true });
    expect(await json('projections', 'list')).not.toMatchObject({
      projections: expect.arrayContaining([expect.objectContaining(ofFile)]),
    });
  });

  it('lets other processes go first while it replays the log, and only then', async () => {
    for (const [args, isLowPriority] of [
      [['projections', 'rebuild', 'notices'], true],
      [['projections', 'compare', 'notices'], true],
      [['projections', 'list'], false],
    ] as const)
      expect(await run(args), args.join(' ')).toMatchObject({ exitCode: 0, isLowPriority });
  });

  it('reports an error in one message, prints nothing else, and ends with the stated exit code', async () => {
    const id = '00000000-0000-4000-8000-000000000000';
    const at = ['--site', id];
    const cases: [number, RegExp, string[], Record<string, string>?][] = [
      [2, /unknown command/, ['nonsense']],
      [2, /must be a UUID/, ['admin', 'count', '--site', 'x']],
      [2, /required option/, ['admin', 'erase', '--visitor', 'x']],
      [2, /exactly one of/, ['admin', 'erase', '--site', id]],
      [2, /needs an identifier of a person/, ['admin', 'erase', '--site', id, '--record', id, '--dry-run']],
      [2, /Give --language, --title, --media-type, --content/, ['admin', 'document-version', 'create', ...at, id]],
      [2, /--body must be JSON/, ['admin', 'document', 'create', ...at, '--body', '{']],
      [2, /whole number/, ['admin', 'seed-demo', '--quota', '-1']],
      [2, /no projection nothing/, ['projections', 'rebuild', 'nothing']],
      [2, /a projection of the service/, ['projections', 'remove', 'consents']],
      [1, /no projection nothing/, ['projections', 'remove', 'nothing']],
      [1, /There is no site/, ['admin', 'document-version', 'activate', ...at, id, id]],
      [1, /There is no site/, ['admin', 'api-key', 'create', '--site', id, '--scope', 'read']],
      [1, /must be an origin/, ['admin', 'seed-demo', '--allowed-origin', 'nowhere']],
      [1, /PORT must be/, ['admin', 'seed-demo'], { PORT: 'x' }],
      [1, /./, ['admin', 'seed-demo'], { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }],
    ];
    for (const [exitCode, message, args, env] of cases) {
      const result = await run([...args, '--json'], env);
      expect(result, args.join(' ')).toEqual({
        exitCode,
        stdout: '',
        isLowPriority: false,
        stderr: expect.stringMatching(message),
      });
      expect(result.stderr, args.join(' ')).not.toMatch(/\n\s+at /);
    }
  });

  it.each(['serve', 'api', 'worker', 'migrate'])('reports why %s --json ended in one line of JSON', async (role) => {
    // The bundled program: it loads the logger in another way than the modules do.
    const { status, stdout, stderr } = spawnSync(process.execPath, [LEDGER, role, '--json'], {
      env: { PORT: 'x' },
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ level: 60, msg: expect.stringMatching(/PORT must be/) });
  });

  it('documents its exit codes in every help', async () => {
    for (const args of [
      ['--help'],
      ['serve', '--help'],
      ['admin', 'seed-demo', '--help'],
      ['evidence', 'export', '--help'],
      ['listen', '--help'],
    ]) {
      const { exitCode, stdout } = await run(args);
      expect(exitCode).toBe(0);
      expect(stdout).toContain('Exit codes: 0');
    }
  });
});
