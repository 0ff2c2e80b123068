import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { watchServer } from '../../../src/app/installation.js';
import { admitGroup, type Submission } from '../../../src/pipeline/admission/admit-group.js';
import { type ConnectionOptions, connectClient } from '../../../src/platform/database/connection.js';
import { ServerChanged } from '../../../src/platform/database/errors.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { bindServer, type ServerBinding } from '../../../src/platform/database/server-binding.js';
import { FaultyProxy } from '../../support/faulty-proxy.js';
import { freePort } from '../../support/free-port.js';
import { MigratedCluster, type PostgresPair } from '../../support/postgres-pair.js';
import { until } from '../../support/wait.js';

let cluster: MigratedCluster;
let pair: PostgresPair;
let proxy: FaultyProxy;
beforeAll(async () => {
  cluster = await MigratedCluster.make();
});
afterAll(() => cluster.remove());
beforeEach(async () => {
  pair = await cluster.openPair({ synchronous: false });
  proxy = await FaultyProxy.start(pair.primary.target);
});
afterEach(async () => {
  await proxy.close();
  await pair.close();
});

/** The address that leads through the proxy. */
function throughProxy(): string {
  const url = new URL(pair.primary.url);
  url.port = String(proxy.port);
  return url.href;
}

function optionsOf(url: string, server?: ServerBinding): ConnectionOptions {
  return {
    url,
    applicationName: 'test',
    statementTimeoutMs: 60_000,
    connectTimeoutMs: 60_000,
    ...(server !== undefined && { server }),
  };
}

function poolOf(url: string, server?: ServerBinding): pg.Pool {
  const pool = createPool({ ...optionsOf(url, server), maxConnections: 4, onIdleError: () => undefined });
  onTestFinished(() => pool.end());
  return pool;
}

/** A connection is released before the outcome is compared: otherwise its pool would never end. */
function outcomeOf(statement: Promise<unknown>): Promise<'answered' | 'failed'> {
  return statement.then(
    () => 'answered',
    () => 'failed',
  );
}

/**
 * Both servers accept writes, as after the leader was frozen and lives again. New connections reach the
 * promoted one.
 */
async function split(): Promise<void> {
  await pair.caughtUp();
  pair.cutReplication();
  await pair.standby.promote();
  proxy.moveTo(pair.standby.target);
}

describe('a process whose address leads to another server, while its connections stay open', () => {
  it('commits nothing on the server that it left, not even a transaction that is open there', async () => {
    await pair.primary.query('create table probe (n integer)');
    const pool = poolOf(throughProxy(), bindServer());
    const open = await pool.connect();
    open.on('error', () => undefined);
    await open.query('begin');
    await open.query('insert into probe values (1)');
    await split();
    await expect(pool.query('select 1')).rejects.toThrow(ServerChanged);
    const outcome = await outcomeOf(open.query('commit'));
    open.release(true);
    expect(outcome).toBe('failed');
    expect(await pair.primary.count('probe')).toBe(0);
  });

  it('notices it within the interval in which it connects anew, without a request that needs a connection', async () => {
    const server = bindServer();
    const pool = poolOf(throughProxy(), server);
    const busy = await pool.connect();
    busy.on('error', () => undefined);
    await busy.query('select 1');
    await split();
    await expect(busy.query('select 1')).resolves.toBeDefined();
    const stop = watchServer(optionsOf(throughProxy(), server), 100);
    onTestFinished(stop);
    const noticed = await until(() => server.refusal() !== null).catch(() => false);
    const outcome = await outcomeOf(busy.query('select 1'));
    busy.release(true);
    expect({ noticed, outcome }).toEqual({ noticed: true, outcome: 'failed' });
  });
});

describe('the answer of admit_group', () => {
  const submission: Submission = {
    site: { siteId: randomUUID(), tenantId: randomUUID(), configRevision: 0 },
    nonce: randomBytes(32),
    isPublishable: false,
    consents: [],
  };

  it('counts from the server on which the process works', async () => {
    const server = bindServer();
    const pool = poolOf(pair.primary.url, server);
    expect(await admitGroup(pool, [submission], server)).toHaveLength(1);
    expect(server.refusal()).toBeNull();
  });

  it('does not count from another time line, to which a pooler moved the connection', async () => {
    const server = bindServer();
    await poolOf(pair.primary.url, server).query('select 1');
    await split();
    const moved = poolOf(pair.standby.url);
    await expect(admitGroup(moved, [submission], server)).rejects.toThrow(ServerChanged);
    expect(server.refusal()).toBeInstanceOf(ServerChanged);
  });
});

describe('a connection string with several hosts', () => {
  const Standby = z.tuple([z.object({ standby: z.boolean() })]);
  const isStandby = async (db: pg.Pool | pg.Client): Promise<boolean> =>
    Standby.parse((await db.query('select pg_is_in_recovery() as standby')).rows)[0].standby;

  function urlOf(...ports: readonly number[]): string {
    const { username, password, pathname } = new URL(pair.primary.url);
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
    return `postgresql://${username}:${password}@${hosts}${pathname}?target_session_attrs=read-write`;
  }

  it('leads to the one that accepts writes, past a standby and a host that is gone', async () => {
    const url = urlOf(await freePort(), pair.standby.port, pair.primary.port);
    expect(await isStandby(poolOf(url))).toBe(false);
    expect(await isStandby(poolOf(url, bindServer()))).toBe(false);
    const client = await connectClient(optionsOf(url));
    expect(await isStandby(client)).toBe(false);
    await client.end();
  });

  it('leads to the promoted standby after the primary is gone', async () => {
    const pool = poolOf(urlOf(pair.primary.port, pair.standby.port));
    await pool.query('create table probe (n integer)');
    await pair.caughtUp();
    await pair.primary.kill();
    await pair.standby.promote();
    await until(() =>
      pool.query('insert into probe values (1)').then(
        () => true,
        () => false,
      ),
    );
    expect(await pair.standby.count('probe')).toBe(1);
  });

  it('fails with the error of a standby if no host accepts writes', async () => {
    await expect(poolOf(urlOf(pair.standby.port, pair.standby.port)).query('select 1')).rejects.toMatchObject({
      code: 'standby',
    });
  });
});
