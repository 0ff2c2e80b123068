import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMaintenance } from '../../../src/app/maintenance-part.js';
import { type AdmissionDatabase, openAdmissionDatabase } from './database.js';

let database: AdmissionDatabase;
beforeAll(async () => {
  database = await openAdmissionDatabase();
});
afterAll(() => database.close());

const logger = pino({ level: 'silent' });

async function slots(): Promise<unknown> {
  const { rows } = await database.owner.query('select kind, slot from admission_generations order by kind');
  return rows;
}

test('replaces a generation that is old enough, and keeps a young one', async () => {
  await database.owner.query("update admission_generations set slot = 0, began_at = now() where kind = 'idempotency'");
  await database.owner.query(
    "update admission_generations set slot = 0, began_at = now() - interval '1 hour' where kind = 'nonces'",
  );
  const maintenance = createMaintenance({ db: database.worker, logger, everyMs: 20 });
  const stop = new AbortController();
  const running = maintenance.run(stop.signal);
  while (Number(maintenance.status().runs) < 2) await sleep(10);
  stop.abort();
  await running;
  expect(await slots()).toEqual([
    { kind: 'idempotency', slot: 0 },
    { kind: 'nonces', slot: 1 },
  ]);
});

test('retries after a failure of the database', async () => {
  let calls = 0;
  const flaky = new Proxy(database.worker, {
    get: (pool, name, receiver) => {
      if (name !== 'query' || calls > 0) return Reflect.get(pool, name, receiver);
      calls += 1;
      return () => Promise.reject(new Error('connection lost'));
    },
  });
  const maintenance = createMaintenance({ db: flaky, logger, everyMs: 10 });
  const stop = new AbortController();
  const running = maintenance.run(stop.signal);
  while (maintenance.status().runs === 0) await sleep(10);
  stop.abort();
  await running;
  expect(maintenance.status().failures).toBe(1);
});
