import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EventLogUnavailable, RevisionConflict } from '../../../src/pipeline/event-log/errors.js';
import { NO_STREAM } from '../../../src/pipeline/event-log/port.js';
import { createPostgresEventLog } from '../../../src/pipeline/event-log/postgres/postgres-event-log.js';
import type { DatabaseRole } from '../../../src/platform/database/session.js';
import { eventually, until } from '../../support/wait.js';
import { newEvents, newStream, plain, readToEnd, readWholeStream } from './events.js';
import { type PostgresFixture, run, startPostgresFixture } from './postgres-fixture.js';

const APPEND_ONE = `SELECT * FROM event_log.append(ARRAY[$1], ARRAY[-1], ARRAY[1], ARRAY[0], ARRAY[$2::uuid], ARRAY['Data.v1'], ARRAY['\\x00'::bytea], ARRAY[''::bytea])`;

describe('the tables of the postgres event log', () => {
  let fixture: PostgresFixture;
  let owner: pg.Client;
  beforeAll(async () => {
    fixture = await startPostgresFixture();
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    owner = new pg.Client({ connectionString: fixture.url });
    await owner.connect();
  });
  afterEach(() => owner.end());

  it.each([
    'UPDATE event_log.events SET data = data',
    'UPDATE event_log.events SET data = data WHERE false',
    'DELETE FROM event_log.events',
    'TRUNCATE event_log.events',
    'TRUNCATE event_log.events CASCADE',
    'INSERT INTO event_log.events SELECT * FROM event_log.events ON CONFLICT (stream, revision) DO UPDATE SET data = excluded.data',
    'UPDATE event_log.runs SET position = position + 1',
    'DELETE FROM event_log.runs',
    'TRUNCATE event_log.runs',
    "SET session_replication_role = 'replica'; DELETE FROM event_log.events",
  ])('refuse their owner: %s', async (statement) => {
    const log = fixture.open();
    const stream = newStream();
    const events = newEvents(2);
    await log.append(stream, NO_STREAM, events);
    await expect(owner.query(statement)).rejects.toThrow(/append-only/);
    expect((await readWholeStream(log, stream)).map(plain)).toEqual(events.map(plain));
  });

  it.each(['consent_ledger_api', 'consent_ledger_worker'])('let %s write only through append', async (role) => {
    await owner.query(`SET ROLE ${role}`);
    for (const statement of [
      `INSERT INTO event_log.events VALUES (1000000, null, 1, '${randomUUID()}', 'Data.v1', '', '')`,
      'INSERT INTO event_log.runs VALUES (1000000, 1, 0, 1)',
      'UPDATE event_log.streams SET next_revision = 0',
      'DELETE FROM event_log.waiting',
      'UPDATE event_log.events SET data = data',
      'TRUNCATE event_log.events',
      'DELETE FROM event_log.runs',
      'ALTER TABLE event_log.events DISABLE TRIGGER append_only',
      'DROP TABLE event_log.events',
    ]) {
      await expect(owner.query(statement)).rejects.toMatchObject({ code: '42501' });
    }
    await owner.query('SELECT count(*) FROM event_log.events');
  });

  it('let the worker append, the API only read, and other roles neither', async () => {
    const log = (role: DatabaseRole) => createPostgresEventLog({ url: fixture.url, role });
    const worker = log('consent_ledger_worker');
    const api = log('consent_ledger_api');
    const stranger = log('consent_ledger_projections');
    const stream = newStream();
    await worker.append(stream, NO_STREAM, newEvents(1));
    expect(await api.lastRevision(stream)).toBe(0);
    await expect(api.append(stream, 0, newEvents(1))).rejects.toBeInstanceOf(EventLogUnavailable);
    await expect(stranger.lastRevision(stream)).rejects.toBeInstanceOf(EventLogUnavailable);
    await expect(stranger.append(stream, 0, newEvents(1))).rejects.toBeInstanceOf(EventLogUnavailable);
    expect(await api.lastRevision(stream)).toBe(0);
    await Promise.all([worker.close(), api.close(), stranger.close()]);
  });

  it('commit durably regardless of session settings, and keep a stronger setting', async () => {
    for (const [asked, kept] of [
      ['off', 'on'],
      ['local', 'on'],
      ['remote_write', 'on'],
      ['remote_apply', 'remote_apply'],
    ]) {
      await owner.query(`BEGIN; SET LOCAL synchronous_commit = ${asked}`);
      await owner.query(APPEND_ONE, [newStream(), randomUUID()]);
      const shown = await owner.query<{ synchronous_commit: string }>('SHOW synchronous_commit');
      expect(shown.rows[0]?.synchronous_commit).toBe(kept);
      await owner.query('ROLLBACK');
    }
  });

  it('refuse an append with a snapshot that is older than the lock', async () => {
    await owner.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await expect(owner.query(APPEND_ONE, [newStream(), randomUUID()])).rejects.toThrow(/read committed/);
    await owner.query('ROLLBACK');
  });

  it('show a position to a reader only after every lower one', async () => {
    const log = fixture.open();
    const slow = newStream();
    const fast = newStream();
    const before = (await readToEnd(log, null)).at(-1)?.position ?? null;
    await owner.query('BEGIN');
    await owner.query(APPEND_ONE, [slow, randomUUID()]);
    const waiting = log.append(fast, NO_STREAM, newEvents(1));
    await until(async () => {
      const locks = await run(fixture.url, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
      return locks.rowCount === 1;
    });
    expect((await log.readAll(before, 10)).events).toEqual([]);
    await owner.query('COMMIT');
    await waiting;
    expect((await log.readAll(before, 10)).events.map((event) => event.stream)).toEqual([slow, fast]);
  });

  it('leave no gap in the positions after a rolled back or refused append', async () => {
    const log = fixture.open();
    const stream = newStream();
    await log.append(stream, NO_STREAM, newEvents(1));
    await owner.query('BEGIN');
    await owner.query(APPEND_ONE, [newStream(), randomUUID()]);
    await owner.query('ROLLBACK');
    await expect(log.append(stream, 7, newEvents(1))).rejects.toBeInstanceOf(RevisionConflict);
    await log.append(stream, 0, newEvents(1));
    const positions = (await readToEnd(log, null)).map((event) => Number(event.position));
    expect(positions).toEqual(positions.map((_, index) => index + 1));
  });

  it('append events of several streams in the given order', async () => {
    const log = fixture.open();
    const before = (await readToEnd(log, null)).at(-1)?.position ?? null;
    const streams = [newStream(), newStream(), newStream()];
    const events = streams.map(() => newEvents(2));
    await log.appendAll(streams.map((stream, n) => ({ stream, expectedRevision: -1, events: events[n] ?? [] })));
    expect((await readToEnd(log, before)).map(({ id }) => id)).toEqual(events.flat().map(({ id }) => id));
  });

  it('keep an event with a position from the role that deletes those of another log', async () => {
    const log = fixture.open();
    await log.append(newStream(), NO_STREAM, newEvents(1));
    await owner.query('SET ROLE consent_ledger_worker');
    await expect(owner.query('DELETE FROM event_log.events')).rejects.toThrow(/append-only/);
  });

  it('refuse a repeated append with different bytes', async () => {
    const log = fixture.open();
    const stream = newStream();
    const events = newEvents(2);
    await log.append(stream, NO_STREAM, events);
    const altered = events.map((event) => ({ ...event, data: Buffer.from('altered') }));
    await expect(log.append(stream, NO_STREAM, altered)).rejects.toBeInstanceOf(RevisionConflict);
  });

  it('refuse an append definitely if another writer blocks it for too long', async () => {
    const log = fixture.open({ appendDeadlineMs: 1_000 });
    const [stream, events] = [newStream(), newEvents(1)];
    await owner.query('BEGIN');
    await owner.query(APPEND_ONE, [newStream(), randomUUID()]);
    // On a machine that stands still, the deadline passes here before the server refuses.
    await eventually(() => expect(log.append(stream, NO_STREAM, events)).rejects.toBeInstanceOf(EventLogUnavailable));
    await owner.query('ROLLBACK');
    expect(await eventually(() => log.append(stream, NO_STREAM, events))).toEqual({ lastRevision: 0 });
  });

  it('wake a subscriber by a notification, long before its next poll', async () => {
    const log = createPostgresEventLog({ url: fixture.url, role: 'consent_ledger_worker', pollIntervalMs: 3_600_000 });
    const end = (await readToEnd(log, null)).at(-1)?.position ?? null;
    const stop = new AbortController();
    const stream = newStream();
    const seen: number[] = [];
    const subscriber = (async () => {
      for await (const page of log.subscribe(end, stop.signal))
        seen.push(...page.events.map((event) => event.revision));
    })();
    for (let n = 0; n < 5; n += 1) {
      await log.append(stream, n - 1, newEvents(1));
      await until(() => seen.length === n + 1);
    }
    stop.abort();
    await subscriber;
    await log.close();
  });
});
