import {
  BACKWARDS,
  binaryEvent,
  END,
  type EventStoreDBClient,
  FORWARDS,
  NO_STREAM as NO_STREAM_OPTION,
  START,
  StreamDeletedError,
} from '@eventstore/db-client';
// This is the library's code path with one call per append. The public appendToStream shares one call among all appends
// without credentials, and keeps the pending responses for the whole process. One broken connection would then fail the
// appends of every client, a late response would throw where no caller can catch it, and no deadline would apply.
import { append } from '@eventstore/db-client/dist/streams/appendToStream/append.js';
import { isOwnStream } from '../../../../schemas/events/streams.js';
import { settleAll } from '../../../platform/background/signals.js';
import { withDeadline } from '../../../platform/background/waiting.js';
import { AppendOutcomeUnknown, AppendRefused, RevisionConflict } from '../errors.js';
import { assertAppendable, assertContinuous, ForeignCount, ownEvents } from '../event-checks.js';
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
import { appendFailure, unavailable } from './append-errors.js';
import { createGuardedClient } from './guarded-client.js';
import { follow, gather, PageBudget } from './reading.js';
import {
  encodeMetadata,
  isSystemEvent,
  parsePosition,
  positionOf,
  toLoggedEvent,
  toStreamEvent,
} from './recorded-events.js';

export interface EventStoreDbEventLogOptions {
  /** Deadline of an append, in milliseconds. After it the outcome is unknown. */
  readonly appendDeadlineMs?: number;
  /** Deadline between the events of a read, in milliseconds. After it the read fails. */
  readonly readDeadlineMs?: number;
  /**
   * Maximum number of events in a page of a subscription. `pageBytes` limits bodies and metadata of
   * any page.
   */
  readonly pageEvents?: number;
  readonly pageBytes?: number;
  /**
   * Receives every failure from which a subscription or the connection recovers. It is normal for the server to drop
   * slow subscriptions.
   */
  readonly onInterruption?: (error: unknown) => void;
  /** Receives, once, each event that another program wrote to a stream of its own. */
  readonly onForeign?: (event: LoggedEvent) => void;
  /** Receives an exception that an event of a read caused; it ends the read. */
  readonly onCaught?: (error: unknown) => void;
  /** Whether the service writes to a stream of this name; the default is the names of the service. */
  readonly isOwnStream?: (stream: string) => boolean;
}

/**
 * Creates the `eventstoredb` adapter for EventStoreDB, one node or a cluster. Streams of other programs on the same
 * server are skipped.
 * @param connectionString `esdb://…` as in the server's documentation; in a cluster the leader is
 *   used
 * @returns a log that connects on first use
 * @throws Error if the connection string is invalid
 */
export function createEventStoreDbEventLog(
  connectionString: string,
  options: EventStoreDbEventLogOptions = {},
): EventLog {
  const { onInterruption = () => undefined } = options;
  return new EventStoreDbEventLog(createGuardedClient(connectionString, onInterruption), options);
}

type StreamEndOption =
  | { readonly direction: typeof BACKWARDS; readonly fromRevision: typeof END }
  | { readonly direction: typeof FORWARDS; readonly fromRevision: typeof START };

/** Requests that the adapter sends at the same time for a call about several streams. */
const MAX_IN_FLIGHT = 32;
/** The same limit for single events, which requests of callers wait for while the relay appends. */
const MAX_SINGLE_READS = 8;

class EventStoreDbEventLog implements EventLog {
  readonly kind = 'eventstoredb';
  readonly maxAppendBytes = MAX_APPEND_BYTES;
  readonly #client: EventStoreDBClient;
  readonly #appendDeadlineMs: number;
  readonly #readDeadlineMs: number;
  readonly #pageEvents: number;
  readonly #pageBytes: number;
  readonly #onInterruption: (error: unknown) => void;
  readonly #isOwnStream: (stream: string) => boolean;
  readonly #foreign: ForeignCount;
  readonly #onCaught: (error: unknown) => void;

  constructor(client: EventStoreDBClient, options: EventStoreDbEventLogOptions) {
    this.#client = client;
    this.#appendDeadlineMs = options.appendDeadlineMs ?? 10_000;
    this.#readDeadlineMs = options.readDeadlineMs ?? 10_000;
    this.#pageEvents = options.pageEvents ?? 500;
    this.#pageBytes = options.pageBytes ?? 4_000_000;
    this.#onInterruption = options.onInterruption ?? (() => undefined);
    this.#isOwnStream = options.isOwnStream ?? isOwnStream;
    this.#onCaught = options.onCaught ?? (() => undefined);
    this.#foreign = new ForeignCount(options.onForeign ?? (() => undefined));
  }

  async append(stream: string, expectedRevision: number, events: readonly NewEvent[]): Promise<AppendResult> {
    assertAppendable(stream, expectedRevision, events);
    const messages = events.map(({ id, type, data, metadata }) => {
      const custom = encodeMetadata(metadata);
      return binaryEvent({ id, type, data, ...(custom === undefined ? {} : { metadata: custom }) });
    });
    if (expectedRevision === NO_STREAM) await this.#refuseHiddenEvents(stream);
    const sending = append.call(this.#client, stream, messages, {
      expectedRevision: expectedRevision === NO_STREAM ? NO_STREAM_OPTION : BigInt(expectedRevision),
      batchAppendSize: MAX_APPEND_BYTES,
      deadline: this.#appendDeadlineMs,
      requiresLeader: true,
    });
    let answer: Awaited<typeof sending>;
    try {
      answer = await withDeadline(sending, this.#appendDeadlineMs);
    } catch (error) {
      throw appendFailure(error, stream, expectedRevision);
    }
    const lastRevision = Number(answer.nextExpectedRevision);
    // With throwOnAppendFailure=false in the connection string, a conflict is a response.
    if (!answer.success) throw new RevisionConflict(stream, expectedRevision, lastRevision);
    if (lastRevision !== expectedRevision + events.length) {
      throw new AppendOutcomeUnknown(`append: the server answered with revision ${lastRevision} of stream ${stream}`);
    }
    return { lastRevision };
  }

  /**
   * Refuses the first event of a stream whose earlier events are hidden, as after its deletion. The server would give
   * the event a later revision, or report success without writing if the same event is among those that it hides.
   */
  async #refuseHiddenEvents(stream: string): Promise<void> {
    try {
      const reading = this.#client.getStreamMetadata(stream, { requiresLeader: true });
      const { metadata } = await withDeadline(reading, this.#readDeadlineMs);
      if (Number(metadata?.truncateBefore ?? 0) === 0) return;
    } catch (error) {
      // A permanently deleted stream has no metadata, and refuses the append itself.
      if (error instanceof StreamDeletedError) return;
      throw unavailable(error);
    }
    throw new AppendRefused(`stream ${stream} was deleted or cut: its metadata has $tb`);
  }

  async appendAll(appends: readonly StreamAppend[]): Promise<AppendOutcome[]> {
    return settleAll(appends, MAX_IN_FLIGHT, ({ stream, expectedRevision, events }) =>
      this.append(stream, expectedRevision, events),
    );
  }

  async readStream(stream: string, fromRevision: number, limit: number): Promise<StreamEvent[]> {
    // The server fails a read of zero events in the same way as when it cannot answer.
    if (limit < 1) return [];
    const events: StreamEvent[] = [];
    const room = new PageBudget(this.#pageBytes);
    const reading = this.#client.readStream(stream, {
      direction: FORWARDS,
      fromRevision: BigInt(fromRevision),
      maxCount: limit,
      requiresLeader: true,
    });
    await this.#gather(reading, (recorded) => {
      const event = toStreamEvent(recorded);
      events.push(event);
      return room.isLeftAfter(event);
    });
    assertContinuous(stream, fromRevision, events);
    return events;
  }

  readEvents(places: readonly EventPlace[]): Promise<(StreamEvent | null)[]> {
    return allOf(places, MAX_SINGLE_READS, (place) => this.#eventAt(place));
  }

  /** Reads one event. The server skips gaps, so the first event that it returns may be a later one. */
  async #eventAt({ stream, revision }: EventPlace): Promise<StreamEvent | null> {
    const found: StreamEvent[] = [];
    const reading = this.#client.readStream(stream, {
      direction: FORWARDS,
      fromRevision: BigInt(revision),
      maxCount: 1,
      requiresLeader: true,
    });
    await this.#gather(reading, (recorded) => {
      found.push(toStreamEvent(recorded));
      return true;
    });
    return found.find((event) => event.revision === revision) ?? null;
  }

  lastRevision(stream: string): Promise<number> {
    return this.#endOf(stream, { direction: BACKWARDS, fromRevision: END });
  }

  lastRevisions(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#endsOf(streams, (stream) => this.lastRevision(stream));
  }

  firstRevisions(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#endsOf(streams, (stream) => this.#endOf(stream, { direction: FORWARDS, fromRevision: START }));
  }

  /** Returns the revision of the first event in a direction, or `NO_STREAM`. */
  async #endOf(stream: string, from: StreamEndOption): Promise<number> {
    let revision = NO_STREAM;
    const reading = this.#client.readStream(stream, { ...from, maxCount: 1, requiresLeader: true });
    await this.#gather(reading, (recorded) => {
      revision = toStreamEvent(recorded).revision;
      return true;
    });
    return revision;
  }

  async #endsOf(
    streams: readonly string[],
    endOf: (stream: string) => Promise<number>,
  ): Promise<ReadonlyMap<string, number>> {
    return new Map(await allOf(streams, MAX_IN_FLIGHT, async (stream) => [stream, await endOf(stream)] as const));
  }

  async readAll(after: Position | null, limit: number): Promise<LogPage> {
    const events: LoggedEvent[] = [];
    const room = new PageBudget(this.#pageBytes);
    // A read from a position begins with the event at that position, which the caller already has.
    const maxCount = after === null ? limit : limit + 1;
    let count = 0;
    let enough = false;
    let next = after;
    const reading = this.#client.readAll({
      direction: FORWARDS,
      fromPosition: after === null ? START : parsePosition(after),
      maxCount,
      requiresLeader: true,
    });
    await this.#gather(reading, (recorded) => {
      count += 1;
      const position = positionOf(recorded);
      if (after !== null && position <= after) return true;
      next = position;
      if (isSystemEvent(recorded)) return true;
      const event = toLoggedEvent(recorded);
      events.push(event);
      enough = !room.isLeftAfter(event);
      return !enough;
    });
    const page = ownEvents({ events, next, atEnd: !enough && count < maxCount }, this.#isOwnStream);
    this.#foreign.note(page.foreign);
    return page;
  }

  subscribe(after: Position | null, signal: AbortSignal): AsyncIterable<LogPage> {
    return follow(this.#client, after, signal, {
      pageEvents: this.#pageEvents,
      pageBytes: this.#pageBytes,
      onInterruption: this.#onInterruption,
      isOwnStream: this.#isOwnStream,
      foreign: this.#foreign,
    });
  }

  async ping(): Promise<void> {
    await this.lastRevision('ledger');
  }

  async close(): Promise<void> {
    await this.#client.dispose();
  }

  async #gather(reading: Parameters<typeof gather>[0], take: (event: unknown) => boolean): Promise<void> {
    try {
      await gather(reading, this.#readDeadlineMs, take, this.#onCaught);
    } catch (error) {
      throw unavailable(error);
    }
  }
}

/** Runs `work` for each item, at most `limit` at the same time. @throws the first failure */
async function allOf<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
  return (await settleAll(items, limit, work)).map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}
