import { expect, it, onTestFinished } from 'vitest';
import { assertConnectionsFit } from '../../src/app/connection-room.js';
import { createPool } from '../../src/platform/database/pool.js';
import { createTestDatabase } from '../support/postgres.js';

it('states how many connections it opens, warns if others leave too few, and refuses what can never be enough', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const workerPool = createPool({
    url: database.url,
    applicationName: 'test',
    maxConnections: 1,
    statementTimeoutMs: 60_000,
    onIdleError: () => undefined,
  });
  const log: [level: string, numbers: object][] = [];
  const logger = {
    info: (numbers: object) => log.push(['info', numbers]),
    warn: (numbers: object) => log.push(['warn', numbers]),
  };
  const roomFor = (poolSize: number, kind: 'postgres' | 'eventstoredb' = 'postgres') =>
    assertConnectionsFit({ config: { database: { poolSize } }, logger, eventLog: { kind }, workerPool });
  const limit = (connections: number) =>
    workerPool.query(`alter database "${new URL(database.url).pathname.slice(1)}" connection limit ${connections}`);

  await limit(200);
  await roomFor(10);
  await roomFor(10, 'eventstoredb');
  expect(log).toMatchObject([
    ['info', { connections_at_most: 48, connections_allowed: 200 }],
    ['info', { connections_at_most: 43 }],
  ]);
  await limit(48);
  await roomFor(10);
  expect(log.at(-1)).toMatchObject(['warn', { connections_at_most: 48, connections_allowed: 48 }]);
  await limit(47);
  await expect(roomFor(10)).rejects.toMatchObject({
    code: 'too_few_connections',
    message: expect.stringContaining('Set DATABASE_POOL_SIZE to 9 or less'),
  });
  await limit(19);
  await expect(roomFor(2)).rejects.toThrow('. Raise max_connections.');
  await workerPool.end();
});
