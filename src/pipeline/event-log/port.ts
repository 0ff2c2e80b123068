/**
 * The event log: append-only streams of events, with one global order over all of them.
 *
 * What every adapter owes its callers (held to it by `test/event-log/contract.ts`):
 *
 * - **Durable**: when `append` resolves, its events survive a crash of the service and of the log's server.
 * - **Atomic**: one `append` is persisted whole or not at all, at consecutive revisions.
 * - **Exact**: `append` succeeds only if the stream's last revision is `expectedRevision`; of two appends that race for
 *   one revision, one wins and the other throws `RevisionConflict`.
 * - **Unknown outcomes are said to be unknown**: when an answer is lost or a deadline passes, `append` throws
 *   `AppendOutcomeUnknown`. The caller then reads the stream from its expected revision and appends what is missing
 *   (`appendExactlyOnce` does). Nothing else is retried by the adapter.
 * - **Repeatable**: an append whose events are all in the log already, with the same ids at exactly the revisions that it
 *   asks for, writes nothing and resolves as it did (or would have done) the first time. Bodies are compared by the `postgres`
 *   adapter only, so a caller who cannot be sure of them reads first. An append of which only some events are there
 *   already throws `RevisionConflict`.
 * - **Gapless**: revisions of a stream are 0, 1, 2, …
 * - **Ordered**: positions grow with the order of persistence. A reader that has seen position p never finds a new event at or
 *   below p afterwards, however many writers commit concurrently; and the events of a stream appear in revision order.
 * - **Byte for byte**: `data` and `metadata` come back as the bytes that were given.
 * - **Immutable**: no adapter offers a way to change or delete an event.
 */
export interface EventLog {
  /** Which adapter this is: for status output and logs. */
  readonly kind: 'postgres' | 'eventstoredb';

  /** The most bytes (sum of `eventSize`) that one `append` may carry. Larger: `AppendTooLarge`, nothing written. */
  readonly maxAppendBytes: number;

  /**
   * Appends events to the end of a stream.
   * @param stream name of the stream, e.g. `consents-<siteId>`: a letter, then letters, digits, `.`, `_`, `-`; at most 200
   * @param expectedRevision revision of the stream's last event, or `NO_STREAM` (-1) if it must not exist yet
   * @param events at least one; their ids are unique over the whole log (`postgres` refuses a second use; `eventstoredb` cannot
   *   tell, and leaves it to the producer)
   * @returns revision of the last event appended
   * @throws RevisionConflict, AppendOutcomeUnknown, AppendTooLarge, AppendRefused, EventLogUnavailable; TypeError for names, ids or
   *   revisions of the wrong form
   */
  append(stream: string, expectedRevision: number, events: readonly NewEvent[]): Promise<AppendResult>;

  /**
   * Reads a stream forwards, up to its last event at the time of the call or later.
   * @param fromRevision first revision wanted (inclusive)
   * @param limit at most this many events; fewer come back where they would be more than a page's worth of bytes
   * @returns the events there are; empty (and only then at the end) if the stream does not exist or ends before `fromRevision`
   * @throws EventLogUnavailable
   */
  readStream(stream: string, fromRevision: number, limit: number): Promise<StreamEvent[]>;

  /**
   * Revision of the last event of a stream, or `NO_STREAM` (-1).
   * @throws EventLogUnavailable
   */
  lastRevision(stream: string): Promise<number>;

  /**
   * Reads the whole log forwards, in its global order, system events left out.
   * @param after only events behind this position; null: from the beginning
   * @param limit at most this many events; fewer come back where they would be more than a page's worth of bytes
   * @returns a page. `events` may be empty although more follow (filtered-out events); `next` is the position to go on from, and
   *          `atEnd` says whether the end of the log was reached.
   * @throws EventLogUnavailable
   */
  readAll(after: Position | null, limit: number): Promise<LogPage>;

  /**
   * Follows the log: yields pages of at least one event in global order, first those there are, then new ones as they are appended. Survives
   * a restart of the log's server, lost connections, and being dropped as too slow: it resumes behind the last page yielded, with
   * back-off, and neither skips nor repeats an event. Ends when `signal` is aborted. `atEnd` of its pages says only that nothing more was
   * at hand when the page was made.
   */
  subscribe(after: Position | null, signal: AbortSignal): AsyncIterable<LogPage>;

  /** Resolves if the log answers; throws EventLogUnavailable if not. */
  ping(): Promise<void>;

  /** Ends the adapter's connections. Subscriptions are ended by their own signals, which must be aborted before. May be called twice. */
  close(): Promise<void>;
}

/** `expectedRevision` of a stream that has no event yet. */
export const NO_STREAM = -1;

/**
 * `maxAppendBytes` of every adapter, so that what one log took can be copied to any other: below EventStoreDB's default of
 * 1 MiB, less room for what an adapter adds.
 */
export const MAX_APPEND_BYTES = 1_000_000;

/**
 * A place in the log's global order. Opaque, but comparable with `<` as a string, and stable for the life of the log.
 * 20 digits (postgres), or 20 digits `/` 20 digits (eventstoredb: commit / prepare).
 */
export type Position = string;

export interface NewEvent {
  /** UUID, lower case, fixed by the producer before the first attempt to append. */
  readonly id: string;
  /** Versioned type, e.g. `ConsentRecorded.v1`: a letter, then letters, digits, `.`, `_`, `-`; at most 100. */
  readonly type: string;
  readonly data: Uint8Array;
  /** UTF-8 JSON about the transport of the event, never evidence. Empty if there is none. */
  readonly metadata: Uint8Array;
}

/** An event as its stream gives it. */
export interface StreamEvent extends NewEvent {
  readonly stream: string;
  readonly revision: number;
}

/** An event as the whole log gives it. */
export interface LoggedEvent extends StreamEvent {
  readonly position: Position;
}

export interface AppendResult {
  readonly lastRevision: number;
}

export interface LogPage {
  readonly events: readonly LoggedEvent[];
  readonly next: Position | null;
  readonly atEnd: boolean;
}
