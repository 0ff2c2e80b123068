import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { watchServer } from '../../src/app/watch-server.js';
import { createTestDatabase } from '../support/postgres.js';

it('keeps a connection open, by which a migration sees a process that does nothing', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const db = new pg.Client({ connectionString: database.url });
  await db.connect();
  const seen = async (): Promise<number> => {
    const { rowCount } = await db.query(`select from pg_stat_activity where application_name = 'watched'`);
    return rowCount ?? 0;
  };
  const stop = watchServer({ url: database.url, applicationName: 'watched', statementTimeoutMs: 60_000 }, 50);
  await expect.poll(seen).toBe(1);
  for (let times = 0; times < 20; times += 1) {
    expect(await seen()).toBeGreaterThan(0);
    await sleep(13);
  }
  await stop();
  await expect.poll(seen).toBe(0);
  await db.end();
});
