import { mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { runCli } from '../../src/cli/run.js';
import { seedDemo } from '../../src/demo/seed/seed-demo.js';
import { loadConfig } from '../../src/platform/config/index.js';
import { startRole } from '../api/server/running-app.js';
import { count } from '../pipeline/relay/pipeline.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/wait.js';

/** Not run here, each with the test that runs it. */
const ELSEWHERE = new Map([
  ['migrate --roles', 'test/ops/restore-walk.large.test.ts'],
  ['admin log accept-restore', 'test/integration/restored-ledger.db.test.ts'],
  ['admin ledger skip-event --revision <number>', 'test/integration/skipped-event.db.test.ts'],
  ['admin quarantine release --site <id>', 'test/pipeline/relay'],
  ['evidence export --site <id> --output after.zip --wait', 'test/ops/installations.large.test.ts'],
  ['admin log copy --to esdb://host:2113', 'test/reliability/eventstoredb'],
  ['admin log copy --to postgres', 'test/reliability/eventstoredb'],
]);
/** Commands that run until they are stopped. */
const RUNNING = ['api', 'worker', 'serve'];

const Ids = z.tuple([z.object({ user: z.string(), tenant: z.string(), key: z.string() })]);

let database: TestDatabase;
let folder: string;
const values = new Map<string, string>();
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'documented-commands-'));
  const service = await startRole('serve', loadConfig(env()), pino({ level: 'silent' }));
  const { adminPool, workerPool } = service.installation;
  const options = { hasSubscription: true, isVerified: true, allowedOrigins: [], allowedIps: [] };
  const seed = await seedDemo(adminPool, options);
  const { rows } = await adminPool.query(
    `select (select id from users limit 1) as user, (select id from tenants limit 1) as tenant, min(id::text) as key
       from api_keys`,
  );
  const [ids] = Ids.parse(rows);
  values.set('id', seed.site.id).set('user', ids.user).set('tenant', ids.tenant).set('key', ids.key);
  values.set('name', 'consents').set('seconds', '60').set('file', join(folder, 'next.key'));
  await until(async () => (await count(workerPool, 'checkpoints')) > 0);
  await service.stop();
});
afterAll(async () => {
  await database?.drop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const env = () => ({
  DATABASE_URL: database.url,
  DATA_DIR: folder,
  PORT: '0',
  LOG_LEVEL: 'error',
  BATCH_MAX_AGE_MS: '100',
  STAMP_INTERVAL_MS: '100',
});

async function run(command: string): Promise<{ exitCode: number; output: string }> {
  const output = new PassThrough();
  const chunks: Buffer[] = [];
  output.on('data', (chunk: Buffer) => chunks.push(chunk));
  const args = command.split(' ').map((word) => word.replace(/^<(\w+)>$/, (_, name: string) => values.get(name) ?? ''));
  const exitCode = await runCli(args, { env: env(), stdout: output, stderr: output, lowerPriority: () => undefined });
  return { exitCode, output: Buffer.concat(chunks).toString('utf8') };
}

/** The commands of a page, in its order, without comments and redirections. */
async function commandsOf(page: string): Promise<readonly string[]> {
  const text = await readFile(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const found = [...text.matchAll(/`npx\sconsent-ledger ([^`]+)`|^ *npx consent-ledger (.+)$/gm)];
  return found.map(([, inline = '', line = '']) => `${inline}${line}`.replace(/ +(?:#|> ).*$/, '').trim());
}

it('every page writes commands so that a clone finds them', async () => {
  const docs = new URL('../../docs/', import.meta.url);
  const pages = (await readdir(docs)).filter((name) => name.endsWith('.md'));
  const texts = await Promise.all(
    pages.map(async (page) => ({ page, text: await readFile(new URL(page, docs), 'utf8') })),
  );
  const notFound = texts.flatMap(({ page, text }) =>
    [...text.matchAll(/^ *consent-ledger .*$/gm)].map(([line]) => `${page}: ${line}`),
  );
  expect(notFound).toEqual([]);
  const bin = new URL('../../node_modules/.bin/', import.meta.url);
  for (const [name, program] of [
    ['consent-ledger', 'bin/consent-ledger.js'],
    ['consent-verify', 'verifier-cli/bin/consent-verify.js'],
  ] as const)
    expect(await realpath(new URL(name, bin))).toBe(await realpath(new URL(`../../${program}`, import.meta.url)));
});

const PAGES = ['operations.md', 'restore.md', 'upgrade.md'];

it(`every command of ${PAGES.join(', ')} runs as it is written there`, async () => {
  const commands = new Set((await Promise.all(PAGES.map(commandsOf))).flat());
  expect(commands.size).toBeGreaterThan(25);
  // The projections stand still until a worker has built them from the recovered log.
  const recovery = 'admin log recover';
  for (const command of [...commands].filter((name) => name !== recovery).concat(recovery)) {
    if (RUNNING.includes(command) || ELSEWHERE.has(command)) continue;
    const resumed = command.replace('audit.state', join(folder, 'audit.state'));
    if (command === 'admin ledger adopt') await rename(join(folder, 'ledger-head.json'), join(folder, 'lost'));
    const { exitCode, output } = await run(resumed);
    expect(exitCode, `${command}: ${output}`).toBe(0);
    if (command.startsWith('admin master-key rotate')) {
      await writeFile(join(folder, 'master.key'), await readFile(join(folder, 'next.key')));
    }
  }
  for (const command of ELSEWHERE.keys()) expect(commands).toContain(command);
});
