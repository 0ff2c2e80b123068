import pg from 'pg';
import { isOwnStream } from '../../../../schemas/events/streams.js';
import { BackOff, DeadlinePassed, pause, withDeadline } from '../../../platform/background/waiting.js';
import type { ConnectionOptions } from '../../../platform/database/connection.js';
import { type CopiedRow, copiedRows } from '../../../platform/database/copied-rows.js';
import { programName } from '../../../platform/database/migrations.js';
import { int8Array, textArray } from '../../../platform/database/parameters.js';
import { createPool } from '../../../platform/database/pool.js';
import type { ServerBinding } from '../../../platform/database/server-binding.js';
import { type DatabaseRole, INDEX_LOOK_UPS } from '../../../platform/database/session.js';
import { AppendOutcomeUnknown, AppendRefused, EventLogUnavailable, RevisionConflict } from '../errors.js';
import {
  appended,
  assertContinuous,
  ForeignCount,
  isStreamName,
  ownEvents,
  refusalOf,
  rejected,
} from '../event-checks.js';
import {
  type AppendOutcome,
  type AppendResult,
  type EventLog,
  type EventPlace,
  type LoggedEvent,
  type LogPage,
  MAX_APPEND_BYTES,
  type NewEvent,
  NO_STREAM,
  type Position,
  type StreamAppend,
  type StreamEvent,
} from '../port.js';
import {
  APPEND,
  appendParameters,
  appendRows,
  FIRST_REVISIONS,
  firstRevisionRows,
  HAS_MORE,
  LAST_REVISIONS,
  lastRevisionRows,
  pagedEventOf,
  placedEventRows,
  positionOf,
  READ_EVENTS,
  readAllSql,
  readStreamSql,
  streamEventOf,
} from './queries.js';
import { Wakeups } from './wakeups.js';

export interface PostgresEventLogOptions {
  /** Connection string of the database with the schema `event_log`. */
  readonly url: string;
  /** Role of the connections: appending requires `consent_ledger_worker`; every role may read. */
  readonly role: DatabaseRole;
  /** The server that every connection of the process must reach. */
  readonly server?: ServerBinding;
  /**
   * Maximum number of connections in the adapter's pool. Subscriptions use one more, for
   * notifications.
   */
  readonly maxConnections?: number;
  /** Deadline of an append, in milliseconds. After it the outcome is unknown. */
  readonly appendDeadlineMs?: number;
  readonly readDeadlineMs?: number;
  /**
   * Poll interval of a subscription, in milliseconds. It applies when notifications are lost, for
   * example through a pooler or a broken connection.
   */
  readonly pollIntervalMs?: number;
  /**
   * Maximum number of events in a page of a subscription. `pageBytes` limits bodies and metadata of
   * every read.
   */
  readonly pageEvents?: number;
  readonly pageBytes?: number;
  /** Receives every failure from which a subscription or the notification connection recovers. */
  readonly onInterruption?: (error: unknown) => void;
  /** Receives, once, each event that was written to a stream that the service does not know. */
  readonly onForeign?: (event: LoggedEvent) => void;
}

/**
 * Creates the `postgres` adapter: append-only tables (schema `event_log`) in the database of the
 * service.
 * @returns a log that connects on first use
 */
export function createPostgresEventLog(options: PostgresEventLogOptions): EventLog {
  return new PostgresEventLog(options);
}

const CONNECT_TIMEOUT_MS = 5_000;

class PostgresEventLog implements EventLog {
  readonly kind = 'postgres';
  readonly maxAppendBytes = MAX_APPEND_BYTES;
  readonly #pool: pg.Pool;
  readonly #wakeups: Wakeups;
  readonly #appendDeadlineMs: number;
  readonly #readDeadlineMs: number;
  readonly #pollIntervalMs: number;
  readonly #pageEvents: number;
  readonly #pageBytes: number;
  readonly #onInterruption: (error: unknown) => void;
  readonly #foreign: ForeignCount;
  #closed: Promise<unknown> | null = null;

  constructor(options: PostgresEventLogOptions) {
    this.#appendDeadlineMs = options.appendDeadlineMs ?? 10_000;
    this.#readDeadlineMs = options.readDeadlineMs ?? 30_000;
    this.#pollIntervalMs = options.pollIntervalMs ?? 1_000;
    this.#pageEvents = options.pageEvents ?? 500;
    this.#pageBytes = options.pageBytes ?? 4_000_000;
    this.#onInterruption = options.onInterruption ?? (() => undefined);
    this.#foreign = new ForeignCount(options.onForeign ?? (() => undefined));
    const connection: ConnectionOptions = {
      url: options.url,
      role: options.role,
      applicationName: programName('event log'),
      connectTimeoutMs: Math.min(this.#appendDeadlineMs, CONNECT_TIMEOUT_MS),
      statementTimeoutMs: Math.max(this.#appendDeadlineMs, this.#readDeadlineMs),
      // If another writer hangs, the server refuses before the deadline, so the outcome is known.
      lockTimeoutMs: Math.ceil(this.#appendDeadlineMs * 0.8),
      ...(options.server !== undefined && { server: options.server }),
    };
    this.#pool = createPool({
      ...connection,
      maxConnections: options.maxConnections ?? 4,
      sessionSteps: [INDEX_LOOK_UPS],
      // The pool removes a broken idle connection. On a connection in use, the query itself fails
      // with the error.
      onIdleError: () => undefined,
    });
    this.#wakeups = new Wakeups(connection, this.#onInterruption);
  }

  async append(stream: string, expectedRevision: number, events: readonly NewEvent[]): Promise<AppendResult> {
    const [outcome] = await this.appendAll([{ stream, expectedRevision, events }]);
    if (outcome?.status === 'fulfilled') return outcome.value;
    throw outcome?.reason;
  }

  async appendAll(appends: readonly StreamAppend[]): Promise<AppendOutcome[]> {
    const outcomes = appends.map(refusalOf);
    const good = appends.flatMap((append, place) => (outcomes[place] === null ? [{ append, place }] : []));
    const answers = await this.#appendTogether(good.map(({ append }) => append));
    for (const [index, { place }] of good.entries()) outcomes[place] = answers[index] ?? null;
    return outcomes.map((outcome) => outcome ?? rejected(new AppendOutcomeUnknown('append: there was no answer')));
  }

  /**
   * Appends in one statement. If the server refuses it because of one event, each stream gets a
   * statement of its own, so that only the stream of this event fails.
   */
  async #appendTogether(appends: readonly StreamAppend[]): Promise<AppendOutcome[]> {
    if (appends.length === 0) return [];
    try {
      return await this.#appendOnce(appends);
    } catch (error) {
      if (!(error instanceof AppendRefused) || appends.length === 1) return appends.map(() => rejected(error));
      const outcomes: AppendOutcome[] = [];
      for (const append of appends) outcomes.push(...(await this.#appendTogether([append])));
      return outcomes;
    }
  }

  async #appendOnce(appends: readonly StreamAppend[]): Promise<AppendOutcome[]> {
    const client = await this.#connect();
    let rows: unknown[];
    try {
      rows = await run(client, this.#appendDeadlineMs, (db) => rowsOf(db, APPEND, appendParameters(appends)));
    } catch (error) {
      throw appendFailure(error);
    }
    const [answer] = appendRows.parse(rows);
    return appends.map(({ stream, expectedRevision, events }, place) => {
      if (answer.outcomes[place] !== 'conflict') return appended(expectedRevision + events.length);
      return rejected(new RevisionConflict(stream, expectedRevision, answer.last_revisions[place] ?? NO_STREAM));
    });
  }

  async readStream(stream: string, fromRevision: number, limit: number): Promise<StreamEvent[]> {
    if (!isStreamName(stream) || limit < 1) return [];
    const events = await this.#copy(readStreamSql(stream, fromRevision, limit, this.#pageBytes), streamEventOf);
    assertContinuous(stream, fromRevision, events);
    return events;
  }

  async readEvents(places: readonly EventPlace[]): Promise<(StreamEvent | null)[]> {
    const events = places.map((): StreamEvent | null => null);
    const named = places.flatMap((at, place) => (isStreamName(at.stream) ? [{ ...at, place }] : []));
    if (named.length === 0) return events;
    const streams = textArray(named.map(({ stream }) => stream));
    const revisions = int8Array(named.map(({ revision }) => revision));
    for (const { place, ...event } of placedEventRows.parse(await this.#read(READ_EVENTS, [streams, revisions]))) {
      const asked = named[place - 1];
      if (asked === undefined) continue;
      const { stream, revision } = asked;
      events[asked.place] = { stream, revision, ...event };
    }
    return events;
  }

  async lastRevision(stream: string): Promise<number> {
    return (await this.lastRevisions([stream])).get(stream) ?? NO_STREAM;
  }

  async lastRevisions(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = lastRevisionRows.parse(await this.#read(LAST_REVISIONS, [textArray(streams)]));
    return new Map(rows.map((row) => [row.stream, row.last_revision]));
  }

  async firstRevisions(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = firstRevisionRows.parse(await this.#read(FIRST_REVISIONS, [textArray(streams)]));
    return new Map(rows.map((row) => [row.stream, row.first_revision]));
  }

  async readAll(after: Position | null, limit: number): Promise<LogPage> {
    const page = await this.#copy(readAllSql(positionOf(after), limit, this.#pageBytes), pagedEventOf);
    const events = page.map(({ event }) => event);
    const read = page[0]?.read ?? 0;
    const atEnd = read < limit && events.length === read;
    const own = ownEvents({ events, next: events.at(-1)?.position ?? after, atEnd }, isOwnStream);
    this.#foreign.note(own.foreign);
    return own;
  }

  async *subscribe(after: Position | null, signal: AbortSignal): AsyncGenerator<LogPage, void, undefined> {
    const backOff = new BackOff();
    let position = after;
    this.#wakeups.join();
    try {
      while (!signal.aborted) {
        const ticket = this.#wakeups.ticket;
        let page: LogPage;
        try {
          page = await this.readAll(position, this.#pageEvents);
          backOff.reset();
        } catch (error) {
          this.#onInterruption(error);
          await pause(backOff.next(), signal);
          continue;
        }
        position = page.next;
        if (page.events.length > 0 && !signal.aborted) yield page;
        if (page.atEnd) await this.#waitForMore(position, ticket, signal);
      }
    } finally {
      this.#wakeups.leave();
    }
  }

  /** Waits for a notification. Without one, it checks at each interval, which is cheaper than a search. */
  async #waitForMore(after: Position | null, ticket: number, signal: AbortSignal): Promise<void> {
    do await this.#wakeups.wait(ticket, this.#pollIntervalMs, signal);
    while (this.#wakeups.ticket === ticket && !signal.aborted && !(await this.#hasMore(after)));
  }

  /** @returns true even if this cannot be determined, because the read that follows reports why */
  async #hasMore(after: Position | null): Promise<boolean> {
    const rows = await this.#read(HAS_MORE, [positionOf(after)]).catch(() => null);
    return rows === null || rows.length > 0;
  }

  async ping(): Promise<void> {
    await this.lastRevision('ledger');
  }

  async close(): Promise<void> {
    this.#closed ??= Promise.all([this.#wakeups.close(), this.#pool.end()]);
    await this.#closed;
  }

  #read(query: NamedQuery, values: unknown[]): Promise<unknown[]> {
    return this.#reading((db) => rowsOf(db, query, values));
  }

  #copy<T>(sql: string, read: (row: CopiedRow) => T): Promise<T[]> {
    return this.#reading((db) => copiedRows(db, sql, read));
  }

  async #reading<T>(work: (db: pg.PoolClient) => Promise<T[]>): Promise<T[]> {
    const client = await this.#connect();
    try {
      return await run(client, this.#readDeadlineMs, work);
    } catch (error) {
      throw unavailable('reading', error);
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw unavailable('connecting', error);
    }
  }
}

interface NamedQuery {
  readonly name: string;
  readonly text: string;
}

async function rowsOf(db: pg.PoolClient, query: NamedQuery, values: unknown[]): Promise<unknown[]> {
  return (await db.query<Record<string, unknown>>({ ...query, values })).rows;
}

/**
 * Runs one statement and releases the connection. After any failure other than an error response,
 * the connection is closed.
 */
async function run<T>(db: pg.PoolClient, deadlineMs: number, work: (db: pg.PoolClient) => Promise<T[]>): Promise<T[]> {
  try {
    const rows = await withDeadline(work(db), deadlineMs);
    db.release();
    return rows;
  } catch (error) {
    db.release(!(error instanceof pg.DatabaseError));
    throw error;
  }
}

/**
 * SQLSTATE classes after which the server may have committed: connection exceptions, and a shutdown
 * or crash in progress.
 */
const AMBIGUOUS = /^(08|57P|40003)/;

/**
 * Maps the error of an append whose statement was sent to the error of the port.
 * @param error error of `client.query`: an error response of the server, a lost connection, or
 *   `DeadlinePassed`
 */
export function appendFailure(error: unknown): Error {
  if (error instanceof pg.DatabaseError && error.code !== undefined && !AMBIGUOUS.test(error.code)) {
    if (error.code === '23505') {
      return new AppendRefused(`another event has the place in the log already: ${error.detail ?? error.message}`, {
        cause: error,
      });
    }
    return new EventLogUnavailable(`the event log refused the append: ${error.message}`, { cause: error });
  }
  const why = error instanceof DeadlinePassed ? error.message : 'the connection was lost before the answer came';
  return new AppendOutcomeUnknown(`append: ${why}`, { cause: error });
}

/** Maps the error of any operation other than an append. */
function unavailable(what: string, error: unknown): EventLogUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  return new EventLogUnavailable(`the event log does not answer (${what}): ${reason}`, { cause: error });
}
