import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countLocks } from '../support/count-locks.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';
import { TestInstallation } from '../support/running-service.js';

// Grace period of a container, and the default of Kubernetes.
const GRACE_MS = 30_000;

let database: TestDatabase;
let proxy: FaultyProxy;
let installation: TestInstallation;
beforeAll(async () => {
  database = await createTestDatabase();
  const url = new URL(database.url);
  proxy = await FaultyProxy.start({ host: url.hostname, port: Number(url.port) });
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  installation = await TestInstallation.make({ DATABASE_URL: url.href });
});
afterAll(async () => {
  await installation?.remove();
  await proxy?.close();
  await database?.drop();
});

test('a worker whose database answers nothing any more ends within its grace period, and says why', async () => {
  const worker = await installation.start('worker');
  // With no statement under way, the worker would have nothing to wait for, and stop by itself.
  const held = new pg.Client(database.url);
  await held.connect();
  await held.query('begin; lock table event_log.waiting in access exclusive mode');
  const waits = "relation = 'event_log.waiting'::regclass and not granted";
  await expect.poll(() => countLocks(held, waits)).toBeGreaterThan(0);
  proxy.silence();
  const startedAt = performance.now();
  const exitCode = await Promise.race([
    worker.stop(),
    new Promise((resolve) => setTimeout(resolve, GRACE_MS, 'still runs')),
  ]);
  if (exitCode === 'still runs') await worker.kill();
  await held.end();
  expect(exitCode).toBe(1);
  expect(worker.stderr).toContain('did not stop in time');
  console.log(`SIGTERM, database silent: ended after ${Math.round(performance.now() - startedAt)} ms`);
});
