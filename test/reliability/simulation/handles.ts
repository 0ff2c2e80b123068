import type pg from 'pg';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../../src/pipeline/event-log/errors.js';
import type { EventLog, LogPage, Position } from '../../../src/pipeline/event-log/port.js';
import { settleAll } from '../../../src/platform/background/signals.js';
import { pause } from '../../../src/platform/background/waiting.js';
import type { TimestampClient } from '../../../src/timestamping/client.js';
import type { Actor, Scheduler } from './scheduler.js';

const POLL_MS = 20;

/** The database as a part of `actor` sees it: each statement waits for its turn, and may fail. */
export function simulatedPool(pool: pg.Pool, owner: pg.Pool, scheduler: Scheduler, actor: Actor): pg.Pool {
  const lost = (): Error => new Error('the connection was lost');
  return new Proxy(pool, {
    get(target, name) {
      if (name === 'query')
        return (query: unknown, values?: unknown) =>
          scheduler.call(actor, shortened(query), () => Reflect.apply(target.query, target, [query, values]), lost);
      if (name === 'connect')
        return async () =>
          simulatedClient(
            await scheduler.call(actor, 'connect', () => target.connect(), lost),
            owner,
            scheduler,
            actor,
          );
      return Reflect.get(target, name);
    },
  });
}

function simulatedClient(client: pg.PoolClient, owner: pg.Pool, scheduler: Scheduler, actor: Actor): pg.PoolClient {
  let isBroken = false;
  const ended = endOf(client);
  // The server has ended the session, and its locks are free, when this resolves.
  const broken = async (): Promise<Error> => {
    isBroken = true;
    await owner.query('select pg_terminate_backend($1, 5000)', [Reflect.get(client, 'processID')]);
    await ended;
    return new Error('the connection was lost');
  };
  return new Proxy(client, {
    get(target, name) {
      if (name === 'query')
        return (query: unknown, values?: unknown) => {
          if (isBroken) return Promise.reject(new Error('the connection was lost'));
          return scheduler.call(
            actor,
            shortened(query),
            () => Reflect.apply(target.query, target, [query, values]),
            broken,
          );
        };
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const ENDS = new WeakMap<pg.PoolClient, Promise<void>>();

/** Resolves when the connection is closed. A client serves many callers, one after the other. */
function endOf(client: pg.PoolClient): Promise<void> {
  const known = ENDS.get(client);
  if (known !== undefined) return known;
  const end = new Promise<void>((resolve) => {
    client.once('end', () => resolve());
  });
  ENDS.set(client, end);
  return end;
}

/** The beginning of a statement: the same in each run, because ids are parameters. */
function shortened(query: unknown): string {
  const text = typeof query === 'string' ? query : String(Reflect.get(Object(query), 'text'));
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 60);
}

/** The event log as a part of `actor` sees it. Subscriptions read pages, because notifications come at any time. */
export function simulatedLog(eventLog: EventLog, scheduler: Scheduler, actor: Actor): EventLog {
  const away = (): Error => new EventLogUnavailable('the event log does not answer');
  const unknown = (isDone: boolean): Error => (isDone ? new AppendOutcomeUnknown('the answer was lost') : away());
  const read = <T>(what: string, work: () => Promise<T>): Promise<T> => scheduler.call(actor, what, work, away);
  const append: EventLog['append'] = (stream, expectedRevision, events) =>
    scheduler.call(
      actor,
      `append ${events.length} to ${stream.replace(/-.*/, '')}`,
      () => eventLog.append(stream, expectedRevision, events),
      unknown,
    );
  const readAll: EventLog['readAll'] = (after, limit) => read('read the log', () => eventLog.readAll(after, limit));
  async function* subscribe(after: Position | null, signal: AbortSignal): AsyncGenerator<LogPage, void, undefined> {
    let position = after;
    while (!signal.aborted) {
      const page = await readAll(position, 5).catch(() => null);
      if (page !== null && page.events.length > 0) {
        position = page.next;
        yield page;
      }
      if (page === null || page.atEnd) await pause(POLL_MS, signal);
    }
  }
  return {
    kind: eventLog.kind,
    maxAppendBytes: eventLog.maxAppendBytes,
    append,
    appendAll: (appends) => settleAll(appends, 1, (one) => append(one.stream, one.expectedRevision, one.events)),
    readStream: (stream, from, limit) => read('read a stream', () => eventLog.readStream(stream, from, limit)),
    readEvents: (places) => read('read events', () => eventLog.readEvents(places)),
    lastRevision: (stream) => read('last revision', () => eventLog.lastRevision(stream)),
    lastRevisions: (streams) => read('last revisions', () => eventLog.lastRevisions(streams)),
    firstRevisions: (streams) => read('first revisions', () => eventLog.firstRevisions(streams)),
    readAll,
    subscribe,
    ping: () => eventLog.ping(),
    close: () => Promise.resolve(),
  };
}

/** The time stamp authorities as the stamper of `actor` sees them. */
export function simulatedAuthority(client: TimestampClient, scheduler: Scheduler, actor: Actor): TimestampClient {
  const away = (): Error => new Error('the authority does not answer');
  return {
    stamp: (data, options) => scheduler.call(actor, 'stamp', () => client.stamp(data, options), away),
  };
}
