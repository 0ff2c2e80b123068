import { once } from 'node:events';
import type { PoolClient } from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { tryLease, waitForLease } from '../../../src/platform/background/part.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { FaultyProxy } from '../../support/faulty-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { PATIENCE_MS } from '../../support/wait.js';

let database: TestDatabase;
let proxy: FaultyProxy;
beforeEach(async () => {
  database = await createTestDatabase({ migrated: false });
  const { hostname, port } = new URL(database.url);
  proxy = await FaultyProxy.start({ host: hostname, port: Number(port) });
});
afterEach(async () => {
  await proxy.close();
  await database.drop();
});

function poolAt(port?: number) {
  const url = new URL(database.url);
  if (port !== undefined) url.port = String(port);
  return createPool({
    url: url.href,
    applicationName: 'lease test',
    maxConnections: 2,
    statementTimeoutMs: 0,
    onIdleError: () => undefined,
  });
}

test('a holder that falls silent is replaced, and learns it', async () => {
  const vanished = poolAt(proxy.port);
  const standby = poolAt();
  const lost = await tryLease(vanished, 'part');
  if (lost === null) throw new Error('the lock is not free');
  const noticed = once(lost.lost, 'abort');
  proxy.silence();
  const next = await waitForLease(standby, 'part', AbortSignal.timeout(PATIENCE_MS));
  expect(next).not.toBeNull();
  await noticed;
  await lost.release();
  expect(next?.lost.aborted).toBe(false);
  await next?.release();
  proxy.restore();
  await Promise.all([vanished.end(), standby.end()]);
});

test('a holder asks nothing more while an answer is missing', async () => {
  const holder = poolAt(proxy.port);
  const clients: PoolClient[] = [];
  holder.on('connect', (client) => clients.push(client));
  const lease = await tryLease(holder, 'part');
  const [client] = clients;
  if (lease === null || client === undefined) throw new Error('the lock is not free');
  const asked = vi.spyOn(client, 'query');
  proxy.silence();
  // Two heartbeats are due, and the deadline of the first is not over.
  await new Promise((resolve) => setTimeout(resolve, 7_000));
  expect(asked).toHaveBeenCalledTimes(1);
  proxy.restore();
  await lease.release();
  await holder.end();
});

test('a holder that only waits keeps the lock', async () => {
  const [holder, other] = [poolAt(), poolAt()];
  const lease = await tryLease(holder, 'part');
  // Longer than PostgreSQL allows the holder to be silent.
  expect(await waitForLease(other, 'part', AbortSignal.timeout(13_000))).toBeNull();
  expect(lease?.lost.aborted).toBe(false);
  await lease?.release();
  await Promise.all([holder.end(), other.end()]);
});
