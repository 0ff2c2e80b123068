import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { CHECKPOINT_STAMPED } from '../../schemas/events/ledger.js';
import { LEDGER_STREAM } from '../../schemas/events/streams.js';
import { runCli } from '../../src/cli/run.js';
import { seedDemo } from '../../src/demo/seed/seed-demo.js';
import { LedgerCorrupt } from '../../src/pipeline/ledger/errors.js';
import { loadConfig } from '../../src/platform/config/index.js';
import { type Role, startRole } from '../api/server/running-app.js';
import { count } from '../pipeline/relay/pipeline.js';
import { figures, secondsSince } from '../support/figures.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/wait.js';

const Unready = z.looseObject({
  reasons: z.array(z.looseObject({ code: z.string(), names: z.array(z.string()).optional() })).default([]),
});

let database: TestDatabase;
let dataDir: string;
beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'skipped-event-'));
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
  runCli(args, {
    env: env(),
    stdout: new PassThrough().resume(),
    stderr: new PassThrough().resume(),
    lowerPriority: () => undefined,
  });

it('stops at an event that cannot be applied, and goes on when an operator skips it', async () => {
  const before = await start('serve');
  await seedDemo(before.installation.adminPool, DEMO);
  await until(async () => (await count(before.installation.workerPool, 'checkpoints')) > 0);
  await before.stop();

  const api = await start('api');
  const { eventLog, adminPool } = api.installation;
  const events = await eventLog.readStream(LEDGER_STREAM, 0, 1_000);
  const stamp = events.find(({ type }) => type === CHECKPOINT_STAMPED);
  if (stamp === undefined) throw new Error('nothing was stamped');
  await eventLog.append(LEDGER_STREAM, events.length - 1, [{ ...stamp, id: randomUUID() }]);
  const appendedAt = performance.now();
  // Every part that needs the ledger waits, and says so.
  const worker = await start('worker');
  const reasons = async () => Unready.parse(await (await fetch(`${worker.url}/readyz`)).json()).reasons;
  const damaged = expect.objectContaining({ code: 'log_damaged', names: expect.arrayContaining([LedgerCorrupt.name]) });
  await expect.poll(reasons).toContainEqual(damaged);
  const noticed = secondsSince(appendedAt);
  await expect.poll(async () => (await fetch(`${api.url}/readyz`)).status).toBe(200);
  expect(await run('audit')).toBe(1);

  const skip = (revision: number) => run('admin', 'ledger', 'skip-event', '--revision', String(revision));
  expect(await skip(events.length - 1)).toBe(1);
  expect(await skip(events.length)).toBe(0);
  const skippedAt = performance.now();
  expect(await skip(events.length)).toBe(1);
  expect(await count(adminPool, "audit_log where action = 'ledger.skip_event'")).toBe(1);
  // It goes on by itself.
  await until(async () => (await fetch(`${worker.url}/readyz`)).status === 200);
  figures('event that cannot be applied', { noticed, goesOn: secondsSince(skippedAt) });
  expect(await run('audit')).toBe(0);
  await worker.stop();
  await api.stop();
});
