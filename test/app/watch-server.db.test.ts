import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { watchServer } from '../../src/app/installation.js';
import { createTestDatabase } from '../support/postgres.js';

it('keeps a connection open, by which a migration sees a process that does nothing', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const db = new pg.Client({ connectionString: database.url });
  await db.connect();
  const looks = new Set<string>();
  const seen = async (): Promise<number> => {
    const { rows } = await db.query(
      `select query_start::text as look from pg_stat_activity where application_name = 'watched'`,
    );
    for (const { look } of rows) looks.add(look);
    return rows.length;
  };
  const stop = watchServer({ url: database.url, applicationName: 'watched', statementTimeoutMs: 60_000 }, 50);
  await expect.poll(seen).toBe(1);
  while (looks.size < 5) expect(await seen()).toBeGreaterThan(0);
  await stop();
  await expect.poll(seen).toBe(0);
  await db.end();
});
