import type { ConsentBody } from '../../../schemas/evidence/consent-body.js';

/**
 * The event log: append-only streams of events, with one global order over all of them.
 *
 * Every adapter guarantees the following (verified by `test/pipeline/event-log/contract.ts`):
 *
 * - **Durable**: when `append` resolves, its events survive a crash of the service and of the log's
 *   server.
 * - **Atomic**: one `append` is persisted whole or not at all, at consecutive revisions.
 * - **Exact**: `append` succeeds only if the stream's last revision is `expectedRevision`. Of two
 *   appends that race for one revision, one wins and the other throws `RevisionConflict`.
 * - **Unknown outcomes are reported as unknown**: when a response is lost or a deadline passes,
 *   `append` throws `AppendOutcomeUnknown`. The caller then reads the stream from its expected
 *   revision and appends the missing events (`appendExactlyOnce` does). The adapter retries nothing
 *   else.
 * - **Repeatable**: an append whose events are all in the log, with the same ids at the requested
 *   revisions, writes nothing and resolves as the first call did. Only the `postgres` adapter
 *   compares bodies, so a caller that may send other bodies reads first. An append of which only
 *   some events are in the log throws `RevisionConflict`.
 * - **Gapless**: revisions of a stream are 0, 1, 2, … A server may break this: it removes events by
 *   the metadata of a stream, or deletes it. No read passes over a gap, and a deleted stream is an
 *   empty one, not an outage.
 * - **Of this service**: events in streams that the service never writes to are not in `events`. An
 *   event in one of its streams that another program wrote is there; what cannot be read of it (the
 *   JSON events of EventStoreDB) has an empty body, which no schema accepts.
 * - **Ordered**: positions grow with the order of persistence. A reader that has seen position p
 *   never finds a new event at or below p, however many writers commit concurrently. The events of
 *   a stream appear in revision order.
 * - **Byte for byte**: `data` and `metadata` are returned as the bytes that were appended.
 * - **Immutable**: no adapter offers a way to change or delete an event.
 */
export interface EventLog {
  /** Name of the adapter, for status output and the logger. */
  readonly kind: 'postgres' | 'eventstoredb';

  /**
   * Maximum bytes (sum of `eventSize`) of one `append`. A larger one throws `AppendTooLarge` and
   * writes nothing.
   */
  readonly maxAppendBytes: number;

  /**
   * Appends events to the end of a stream.
   * @param stream name of the stream, e.g. `consents-<siteId>`: a letter, then letters, digits,
   *   `.`, `_`, `-`; at most 200 characters
   * @param expectedRevision revision of the stream's last event, or `NO_STREAM` (-1) if the stream
   *   must not exist yet
   * @param events the events, at least one; their ids are unique over the whole log. No adapter detects a second use:
   * the log relies on the producer.
   * @returns revision of the last appended event
   * @throws RevisionConflict, AppendOutcomeUnknown, AppendTooLarge, AppendRefused,
   *   EventLogUnavailable
   * @throws TypeError for names, ids or revisions of the wrong form
   */
  append(stream: string, expectedRevision: number, events: readonly NewEvent[]): Promise<AppendResult>;

  /**
   * Appends to several streams, each as `append` does: the failure of one append affects no other. Only the `postgres`
   * adapter keeps the order of the appends between streams.
   * @param appends appends to different streams; the caller bounds their total size
   * @returns one outcome for each append, in order. Never rejects.
   */
  appendAll(appends: readonly StreamAppend[]): Promise<AppendOutcome[]>;

  /**
   * Reads a stream forwards, up to its last event at the time of the call or later.
   * @param fromRevision first revision to read (inclusive)
   * @param limit maximum number of events; fewer are returned if they would exceed the bytes of a
   *   page, none if it is below 1
   * @returns the events; empty only if the limit is below 1, or the stream does not exist, was
   *   deleted or ends before `fromRevision`
   * @throws RevisionGap if the log lacks events from `fromRevision` on
   * @throws EventLogUnavailable
   */
  readStream(stream: string, fromRevision: number, limit: number): Promise<StreamEvent[]>;

  /**
   * Reads single events.
   * @param places any number of places, even several of one event; the caller bounds how many it holds in memory
   * @returns for each place, in order, its event, or null if the log has none there: the stream does not exist, was
   * deleted or ends before, or the server removed the event
   * @throws EventLogUnavailable
   */
  readEvents(places: readonly EventPlace[]): Promise<(StreamEvent | null)[]>;

  /**
   * Returns the revision of the last event of a stream, or `NO_STREAM` (-1).
   * @throws EventLogUnavailable
   */
  lastRevision(stream: string): Promise<number>;

  /**
   * Returns the revisions of the last events of streams, `NO_STREAM` (-1) for those without events.
   * @param streams any number, at most some thousands
   * @throws EventLogUnavailable
   */
  lastRevisions(streams: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /**
   * Returns the revisions of the first events that streams still have: 0, unless the server removed
   * events. `NO_STREAM` (-1) for those without events.
   * @param streams any number, at most some thousands
   * @throws EventLogUnavailable
   */
  firstRevisions(streams: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /**
   * Reads the whole log forwards in its global order, without system events and foreign streams. It
   * finds no gap: a reader of many pages checks for gaps with `Continuity`.
   * @param after only events after this position are read; null reads from the beginning
   * @param limit maximum number of events; fewer are returned if they would exceed the bytes of a
   *   page
   * @returns a page. `events` may be empty although more events follow, if they were filtered out.
   *   `next` is the position to continue from. `atEnd` tells whether the end of the log was
   *   reached.
   * @throws EventLogUnavailable
   */
  readAll(after: Position | null, limit: number): Promise<LogPage>;

  /**
   * Follows the log: yields pages of at least one event in global order, first the existing events,
   * then new ones as they are appended. It survives a restart of the log's server, lost
   * connections, and being dropped as too slow. It resumes after the last yielded page, with
   * back-off, and neither skips nor repeats an event. It ends when `signal` is aborted. `atEnd` of
   * its pages means only that no further event was available when the page was made.
   */
  subscribe(after: Position | null, signal: AbortSignal): AsyncIterable<LogPage>;

  /**
   * Resolves if the log responds.
   * @throws EventLogUnavailable
   */
  ping(): Promise<void>;

  /**
   * Closes the adapter's connections. The caller must have aborted the signals of all
   * subscriptions. May be called twice.
   */
  close(): Promise<void>;
}

/** `expectedRevision` of a stream that has no event yet. */
export const NO_STREAM = -1;

/**
 * `maxAppendBytes` of every adapter, so that the events of one log can be copied to any other. The
 * value is below EventStoreDB's default of 1 MiB, less room for the additions of an adapter.
 */
export const MAX_APPEND_BYTES = 1_000_000;

/**
 * A position in the log's global order. It is opaque, but comparable with `<` as a string, and stable for the life of
 * the log. It has 20 digits (postgres), or 20 digits `/` 20 digits (eventstoredb: commit / prepare).
 */
export type Position = string;

export interface NewEvent {
  /** UUID in lower case. The producer fixes it before the first attempt to append. */
  readonly id: string;
  /** Versioned type, e.g. `ConsentRecorded.v1`: a letter, then letters, digits, `.`, `_`, `-`; at most 100. */
  readonly type: string;
  readonly data: Uint8Array;
  /** UTF-8 JSON about the transport of the event, never evidence. Empty if there is none. */
  readonly metadata: Uint8Array;
}

/** The position of an event in its stream. */
export interface EventPlace {
  readonly stream: string;
  readonly revision: number;
}

/** An event as read from its stream. */
export interface StreamEvent extends NewEvent, EventPlace {
  /** The body of a consent, if it has already been parsed: see `consentOf`. Absent if it has not. */
  readonly consent?: ConsentBody | null;
}

/** An event as read from the whole log. */
export interface LoggedEvent extends StreamEvent {
  readonly position: Position;
}

export interface AppendResult {
  readonly lastRevision: number;
}

/** Events for the end of one stream: the parameters of `append`. */
export interface StreamAppend {
  readonly stream: string;
  readonly expectedRevision: number;
  readonly events: readonly NewEvent[];
}

/** Outcome of one of several appends; `reason` is an error that `append` would throw. */
export type AppendOutcome = PromiseSettledResult<AppendResult>;

export interface LogPage {
  readonly events: readonly LoggedEvent[];
  /** Events of streams that the service never writes to. Only their names and positions matter. */
  readonly foreign: readonly LoggedEvent[];
  readonly next: Position | null;
  readonly atEnd: boolean;
}
