import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { EventLog } from '../../../src/pipeline/event-log/port.js';
import { createPostgresEventLog } from '../../../src/pipeline/event-log/postgres/postgres-event-log.js';
import { openEmbeddedPostgres } from '../../../src/platform/database/embedded/index.js';
import { migrate } from '../../../src/platform/database/migrate.js';
import { loadMigrations } from '../../../src/platform/database/migrations.js';
import { FaultyProxy } from '../../support/faulty-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { eventually, until } from '../../support/wait.js';
import type { EventLogFixture, OpenOptions, RestartableFixture } from './fixture.js';

const UNIQUE_VIOLATION = '23505';

export interface PostgresFixture extends EventLogFixture {
  /** Connection string of the superuser to the log's database. */
  readonly url: string;
  /** Creates another database with an empty log and returns its connection string. */
  newDatabase(): Promise<string>;
}

/** Makes an empty event log in a database of the run's server. */
export async function startPostgresFixture(): Promise<PostgresFixture> {
  const databases: TestDatabase[] = [];
  const newDatabase = async () => {
    const database = await createTestDatabase();
    databases.push(database);
    return database.url;
  };
  const fixture = fixtureOf(await newDatabase());
  return {
    ...fixture,
    newDatabase,
    async close() {
      await fixture.close();
      await Promise.all(databases.map((database) => database.drop()));
    },
  };
}

/** Starts a separate PostgreSQL server that can be killed, with an empty event log. */
export async function startRestartablePostgres(): Promise<RestartableFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'event-log-'));
  const rootHomeBase = join(tmpdir(), `event-log-home-${randomUUID()}`);
  const server = await openEmbeddedPostgres({ dataDir: join(folder, 'data'), rootHomeBase, log: () => undefined });
  const url = new URL(server.superuserUrl);
  url.pathname = '/event_log';
  await run(server.superuserUrl, 'CREATE DATABASE event_log');
  const owner = new pg.Pool({ connectionString: url.href, max: 1 });
  await migrate(owner, loadMigrations());
  await owner.end();
  const fixture = fixtureOf(url.href);
  return {
    ...fixture,
    async restartServer() {
      const before = await postmasterPid(server.home);
      process.kill(before, 'SIGKILL');
      await until(async () => (await postmasterPid(server.home).catch(() => before)) !== before);
      await eventually(() => run(url.href, 'SELECT 1'));
    },
    async close() {
      await fixture.close();
      await server.release();
      await rm(folder, { recursive: true, force: true });
      await rm(rootHomeBase, { recursive: true, force: true });
    },
  };
}

function fixtureOf(url: string): Omit<PostgresFixture, 'newDatabase'> {
  const logs: EventLog[] = [];
  const proxies: FaultyProxy[] = [];
  return {
    slowConsumerMessage: null,
    knownEnd: null,
    url,
    open(options: OpenOptions = {}) {
      const connectionUrl = new URL(url);
      if (options.through) connectionUrl.host = `127.0.0.1:${options.through.port}`;
      const log = createPostgresEventLog({
        url: connectionUrl.href,
        role: 'consent_ledger_worker',
        ...(options.appendDeadlineMs === undefined ? {} : { appendDeadlineMs: options.appendDeadlineMs }),
        ...(options.onInterruption === undefined ? {} : { onInterruption: options.onInterruption }),
        ...(options.onForeign === undefined ? {} : { onForeign: options.onForeign }),
      });
      logs.push(log);
      return log;
    },
    async startProxy() {
      const { hostname, port } = new URL(url);
      const proxy = await FaultyProxy.start({ host: hostname, port: Number(port) });
      proxies.push(proxy);
      return proxy;
    },
    async writeForeign(stream, type) {
      await insertForeign({ query: (statement) => run(url, statement) }, stream, type);
    },
    async removeFirst(stream, count) {
      await run(url, ...damageSql(`delete from event_log.events where ${inStream(stream)} and revision < ${count}`));
    },
    async deleteStream(stream) {
      await run(url, ...damageSql(`delete from event_log.events where ${inStream(stream)}`));
    },
    async close() {
      for (const proxy of proxies) proxy.restore();
      await Promise.all(logs.map((log) => log.close()));
      await Promise.all(proxies.map((proxy) => proxy.close()));
    },
  };
}

/** Returns the statements with which an owner of the database changes the log in spite of its trigger. */
export function damageSql(statement: string): string[] {
  const triggers = (verb: string): string[] =>
    ['events', 'runs'].flatMap((table) => [`alter table event_log.${table} ${verb} trigger append_only`]);
  return [
    ...triggers('disable'),
    'alter table event_log.events disable trigger kept_in_log',
    statement,
    'alter table event_log.events enable always trigger kept_in_log',
    ...triggers('enable always'),
  ];
}

/** Returns the condition that an event is of a stream. */
export function inStream(stream: string): string {
  return `stream = (select number from event_log.streams where name = '${stream}')`;
}

interface Writer {
  query(statement: string): Promise<unknown>;
}

/**
 * Adds an event which the service did not write to the end of a stream. It takes its place in the log
 * without the service's lock, and is repeated if the service took the place at the same moment.
 */
export async function insertForeign(db: Writer, stream: string, type: string): Promise<void> {
  const statement = `with place as (
      insert into event_log.streams (name) values ('${stream}') on conflict (name) do update set name = excluded.name
      returning number, event_log.last_of(number) + 1 as revision
    ), run as (
      insert into event_log.runs
        select (select coalesce(max(position + count), 1) from event_log.runs), number, revision, 1 from place
    )
    insert into event_log.events (stream, revision, id, type, data, metadata)
      select number, revision, gen_random_uuid(), '${type}', '', '' from place`;
  for (;;) {
    try {
      await db.query(statement);
      return;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION)) throw error;
    }
  }
}

/** Runs statements one by one on a separate connection. */
export async function run(url: string, ...statements: string[]): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const results: pg.QueryResult[] = [];
    for (const statement of statements) results.push(await client.query(statement));
    const last = results.at(-1);
    if (last === undefined) throw new TypeError('no statement');
    return last;
  } finally {
    await client.end();
  }
}

async function postmasterPid(home: string): Promise<number> {
  const text = await readFile(join(home, 'data', 'postmaster.pid'), 'utf8');
  const pid = Number(text.split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 0) throw new Error('no process id in postmaster.pid');
  return pid;
}
