import net from 'node:net';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectClient, parseInt8 } from '../../../src/platform/database/connection.js';
import { createPool, withTransaction } from '../../../src/platform/database/pool.js';
import { refuseUnsafeServer } from '../../../src/platform/database/server-checks.js';
import { FaultyProxy } from '../../support/faulty-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { eventually, until } from '../../support/wait.js';

describe('pools', () => {
  let database: TestDatabase;
  let db: pg.Pool;
  const settings = { applicationName: 'pool test', maxConnections: 2, statementTimeoutMs: 60_000 };
  const hasty = { ...settings, statementTimeoutMs: 300 };

  beforeAll(async () => {
    database = await createTestDatabase();
    db = createPool({ ...settings, url: database.url, onIdleError: () => undefined });
    await db.query('CREATE TABLE numbers (n bigint PRIMARY KEY)');
  });
  afterAll(async () => {
    await db.end();
    await database.drop();
  });

  it('assumes its role and keeps the options in the URL', async () => {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c work_mem=5MB');
    const api = createPool({ ...settings, url: url.href, role: 'consent_ledger_api', onIdleError: () => undefined });
    const { rows } = await api.query(`SELECT current_user AS role, current_setting('work_mem') AS work_mem`);
    expect(rows).toEqual([{ role: 'consent_ledger_api', work_mem: '5MB' }]);
    await expect(api.query('SELECT * FROM numbers')).rejects.toThrow(/permission denied/);
    await api.end();
  });

  it('reads bigint as number, and fails instead of rounding', async () => {
    const { rows } = await db.query('SELECT 9007199254740991::bigint AS n');
    expect(rows).toEqual([{ n: Number.MAX_SAFE_INTEGER }]);
    await expect(db.query('SELECT 9007199254740992::bigint AS n')).rejects.toThrow(RangeError);
    expect(() => parseInt8('-9007199254740992')).toThrow(RangeError);
    expect((await db.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
  });

  it('cancels a statement after its time limit', async () => {
    const pool = createPool({ ...hasty, url: database.url, onIdleError: () => undefined });
    // A server that stands still for seconds gives no answer at all.
    await eventually(() => expect(pool.query('SELECT pg_sleep(300)')).rejects.toThrow(/statement timeout/));
    await pool.end();
  });

  it('commits work that resolves and rolls back work that throws', async () => {
    await withTransaction(db, (db) => db.query('INSERT INTO numbers VALUES (1)'));
    await expect(
      withTransaction(db, async (db) => {
        await db.query('INSERT INTO numbers VALUES (2)');
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect((await db.query('SELECT n FROM numbers')).rows).toEqual([{ n: 1 }]);
  });

  it('removes a connection that breaks inside a transaction, and continues', async () => {
    await expect(
      withTransaction(db, async (db) => {
        const { rows } = await db.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        await db.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
        await db.query('INSERT INTO numbers VALUES (3)');
      }),
    ).rejects.toThrow();
    expect((await db.query('SELECT n FROM numbers WHERE n = 3')).rows).toEqual([]);
  });

  it('gives up a statement whose server vanished, and opens another connection', async () => {
    const url = new URL(database.url);
    const proxy = await FaultyProxy.start({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    const far = createPool({ ...hasty, url: url.href, onIdleError: () => undefined });
    const clients = new Set<pg.PoolClient>();
    far.on('acquire', (client) => clients.add(client));
    try {
      await eventually(() => Promise.all([far.query('SELECT 1'), far.query('SELECT 1')]));
      const asked = [...clients].map((client) => vi.spyOn(client, 'query'));
      proxy.silence();
      const single = far.query('SELECT 1');
      const transaction = withTransaction(far, (db) => db.query('INSERT INTO numbers VALUES (4)'));
      await Promise.all([
        expect(single).rejects.toThrow('timeout'),
        expect(transaction).rejects.toThrow('timeout'),
        until(() => far.totalCount === 0),
      ]);
      // Neither asks for something more, and waits for a second limit.
      expect(asked.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBe(2);
      proxy.restore();
      expect((await eventually(() => far.query('SELECT n FROM numbers WHERE n = 4'))).rows).toEqual([]);
    } finally {
      await far.end();
      await proxy.close();
    }
  });

  it('ends a connection of its own although the server hangs and never closes it', async () => {
    const url = new URL(database.url);
    let hangs = false;
    const sockets: net.Socket[] = [];
    // A socket that the other side closed stays open, as that of a process that is stopped.
    const front = net.createServer({ allowHalfOpen: true }, (client) => {
      const server = net.connect(Number(url.port), url.hostname);
      sockets.push(client, server);
      client.on('data', (bytes) => hangs || server.write(bytes)).on('error', () => undefined);
      server.on('data', (bytes) => hangs || client.write(bytes)).on('error', () => undefined);
    });
    const port = await new Promise<number>((resolve) => front.listen(0, '127.0.0.1', () => resolve(portOf(front))));
    const through = new URL(url);
    through.port = String(port);
    const client = await connectClient({ ...settings, url: through.href });
    try {
      hangs = true;
      await client.end();
    } finally {
      for (const socket of sockets) socket.destroy();
      front.close();
    }
  });

  it('accepts a server with durable commits', async () => {
    await expect(refuseUnsafeServer(db)).resolves.toBeUndefined();
  });
});

function portOf(server: net.Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}
