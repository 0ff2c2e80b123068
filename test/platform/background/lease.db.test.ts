import { expect, test } from 'vitest';
import { tryLease } from '../../../src/platform/background/part.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { createTestDatabase } from '../../support/postgres.js';

test('a lock is free as soon as it is released, and its connection serves others', async () => {
  const database = await createTestDatabase({ migrated: false });
  const db = createPool({
    url: database.url,
    applicationName: 'lease test',
    maxConnections: 2,
    statementTimeoutMs: 0,
    onIdleError: () => undefined,
  });
  const lease = await tryLease(db, 'part');
  expect(lease?.lost.aborted).toBe(false);
  expect(await tryLease(db, 'part')).toBeNull();
  await lease?.release();
  const settings = await Promise.all([1, 2].map(() => db.query('show idle_session_timeout')));
  expect(settings.map(({ rows }) => rows)).toEqual([[{ idle_session_timeout: '0' }], [{ idle_session_timeout: '0' }]]);
  await (await tryLease(db, 'part'))?.release();
  await db.end();
  await database.drop();
});
