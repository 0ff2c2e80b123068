import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMaintenance } from '../../../src/app/worker.js';
import { createConflictNotes } from '../../../src/pipeline/admission/conflict-notes.js';
import { maintainAdmission } from '../../../src/pipeline/admission/maintenance.js';
import { type AdmissionDatabase, openAdmissionDatabase } from './database.js';
import { createSiteFixture } from './site-fixture.js';

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

test('keeps at most 100 conflicts of an API key, and each for 30 days', async () => {
  const site = await createSiteFixture(database.owner);
  const { rows: keys } = await database.owner.query('select id from api_keys where site_id = $1', [site.siteId]);
  const [apiKey, other] = keys.map(({ id }) => String(id));
  const note = (api_key_id: string | undefined, events: readonly string[], times: number) =>
    database.db.query('select note_idempotency_conflicts($1)', [
      JSON.stringify(events.map((event_id) => ({ api_key_id, event_id, site_id: site.siteId, times }))),
    ]);
  const events = Array.from({ length: 150 }, () => randomUUID());
  await note(apiKey, events.slice(0, 60), 1);
  await note(apiKey, events, 2);
  await note(other, events.slice(0, 3), 1);
  const counts = async () => {
    const { rows } = await database.owner.query(
      `select count(*)::int as rows, max(times)::int as most from idempotency_conflicts
        where api_key_id = any($1::uuid[]) group by api_key_id order by 1 desc`,
      [[apiKey, other]],
    );
    return rows;
  };
  expect(await counts()).toEqual([
    { rows: 100, most: 3 },
    { rows: 3, most: 1 },
  ]);
  await database.owner.query("update idempotency_conflicts set last_at = now() - interval '31 days' where times > 1");
  await maintainAdmission(database.worker);
  expect(await counts()).toEqual([{ rows: 3, most: 1 }]);
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

test('notes the conflict of one API key beside a thousand of another', async () => {
  const site = await createSiteFixture(database.owner);
  const { rows: keys } = await database.owner.query('select id from api_keys where site_id = $1', [site.siteId]);
  const [flooding = '', quiet = ''] = keys.map(({ id }) => String(id));
  const notes = createConflictNotes({
    db: database.db,
    onError: (error) => {
      throw error;
    },
  });
  const note = (apiKeyId: string) => notes.note({ siteId: site.siteId, apiKeyId, eventId: randomUUID() });
  // The first is written at once, the others by the next statement.
  for (let n = 0; n < 2_000; n += 1) note(flooding);
  note(quiet);
  await notes.drain();
  const { rows } = await database.owner.query(
    'select api_key_id, count(*)::int from idempotency_conflicts where site_id = $1 group by 1 order by 2',
    [site.siteId],
  );
  expect(rows).toEqual([
    { api_key_id: quiet, count: 1 },
    { api_key_id: flooding, count: 100 },
  ]);
});
