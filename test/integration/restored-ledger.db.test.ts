import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../../src/cli/run.js';
import { seedDemo } from '../../src/demo/seed/seed-demo.js';
import { LedgerHeadMissing, LedgerRolledBack } from '../../src/pipeline/ledger/errors.js';
import { loadConfig } from '../../src/platform/config/index.js';
import { type Role, startRole } from '../api/server/running-app.js';
import { count } from '../pipeline/relay/pipeline.js';
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../support/postgres.js';
import { type RunningWitness, runWitness } from '../support/running-witness.js';
import { until } from '../support/wait.js';

let database: TestDatabase;
let dataDir: string;
beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'restored-ledger-'));
});
afterAll(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const env = () => ({
  DATABASE_URL: database.url,
  DATA_DIR: dataDir,
  PORT: '0',
  BATCH_MAX_AGE_MS: '100',
  STAMP_INTERVAL_MS: '100',
});
const DEMO = { hasSubscription: true, isVerified: true, allowedOrigins: [], allowedIps: [], rateLimit: 100_000 };
const start = (role: Role) => startRole(role, loadConfig(env()), pino({ level: 'silent' }));
const run = (...args: readonly string[]) =>
  runCli([...args, '--json'], {
    env: env(),
    stdout: new PassThrough().resume(),
    stderr: new PassThrough().resume(),
    lowerPriority: () => undefined,
  });
const accept = () => run('admin', 'log', 'accept-restore');

it('refuses to seal on a ledger that became shorter, until an operator accepts it', async () => {
  await (await start('serve')).stop();
  expect(await accept()).toBe(1);
  const path = join(dataDir, 'ledger-head.json');
  const written_at = new Date().toISOString();
  await writeFile(path, JSON.stringify({ v: 1, size: 9, root: 'ab'.repeat(32), revision: 20, key: null, written_at }));
  await expect(start('serve')).rejects.toThrow(LedgerRolledBack);
  await expect(start('worker')).rejects.toThrow(LedgerRolledBack);
  await expect(start('api')).rejects.toThrow(LedgerRolledBack);
  expect(await accept()).toBe(0);
  const service = await start('api');
  // The first start may have sealed a batch: the service records something of itself.
  const size = await count(service.installation.adminPool, 'batches');
  expect(size).toBeLessThan(9);
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ size });
  await service.stop();
  await (await start('serve')).stop();
});

it('signs nothing on a restored copy without ledger-head.json, until an operator adopts the ledger', async () => {
  const service = await start('serve');
  const { workerPool: db, adminPool } = service.installation;
  await seedDemo(adminPool, DEMO);
  await until(async () => (await count(db, 'checkpoints')) > 0);
  await service.stop();
  const path = join(dataDir, 'ledger-head.json');
  await rm(path);

  await expect(start('worker')).rejects.toThrow(LedgerHeadMissing);
  await expect(start('serve')).rejects.toThrow(LedgerHeadMissing);
  expect(await run('admin', 'ledger', 'rotate-key')).toBe(1);
  await expect(readFile(path)).rejects.toThrow('ENOENT');
  await (await start('api')).stop();

  expect(await run('admin', 'ledger', 'adopt')).toBe(0);
  expect(await run('admin', 'ledger', 'adopt')).toBe(1);
  const adopted = await start('worker');
  expect(await count(adopted.installation.adminPool, "audit_log where action = 'ledger.adopt'")).toBe(1);
  await adopted.stop();
});

it('refuses a restore that took back ledger-head.json too, because a witness cosigned more', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'restored-witness-'));
  const databases = [await createTestDatabase()];
  let witness: RunningWitness | null = null;
  try {
    const serve = (own: Readonly<Record<string, string>>) =>
      startRole('serve', loadConfig({ ...env(), DATA_DIR: folder, ...own }), pino({ level: 'silent' }));
    const original = { DATABASE_URL: databases[0]?.url ?? '' };
    await (await serve(original)).stop();
    const ledgerKey = await readFile(join(folder, 'ledger.vkey'), 'utf8');
    witness = await runWitness(folder, 'w.example/1', ledgerKey.trim().split('\n'));
    const witnessed = { WITNESS_URLS: witness.url, WITNESS_KEYS: witness.vkeys.join(',') };
    const grow = async (): Promise<void> => {
      const service = await serve({ ...original, ...witnessed });
      const { adminPool, workerPool: db } = service.installation;
      const size = await count(db, 'batches');
      await seedDemo(adminPool, DEMO);
      await until(async () => (await count(db, `cosignatures where size > ${size}`)) > 0);
      await service.stop();
    };
    await grow();
    const head = await readFile(join(folder, 'ledger-head.json'));
    const copy = await copyTestDatabase(databases[0]?.url ?? '');
    databases.push(copy);
    await grow();
    await writeFile(join(folder, 'ledger-head.json'), head);
    await expect(serve({ ...witnessed, DATABASE_URL: copy.url })).rejects.toThrow('witness w.example/1');
  } finally {
    await witness?.stop();
    for (const one of databases) await one.drop();
    await rm(folder, { recursive: true, force: true });
  }
});
