import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../../src/cli/run.js';
import { LedgerRolledBack } from '../../src/pipeline/ledger/errors.js';
import { loadConfig } from '../../src/platform/config/index.js';
import { type Role, startRole } from '../api/server/running-app.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';

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

const env = () => ({ DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: '0' });
const start = (role: Role) => startRole(role, loadConfig(env()), pino({ level: 'silent' }));
const accept = () =>
  runCli(['admin', 'log', 'accept-restore', '--json'], {
    env: env(),
    stdout: new PassThrough().resume(),
    stderr: new PassThrough().resume(),
  });

it('refuses to seal on a ledger that became shorter, until an operator accepts it', async () => {
  await (await start('serve')).stop();
  expect(await accept()).toBe(1);
  const path = join(dataDir, 'ledger-head.json');
  const written_at = new Date().toISOString();
  await writeFile(path, JSON.stringify({ v: 1, size: 9, root: 'ab'.repeat(32), revision: 20, key: null, written_at }));
  await expect(start('serve')).rejects.toThrow(LedgerRolledBack);
  await expect(start('worker')).rejects.toThrow(LedgerRolledBack);
  await (await start('api')).stop();
  expect(await accept()).toBe(0);
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ size: 0 });
  await (await start('serve')).stop();
});
