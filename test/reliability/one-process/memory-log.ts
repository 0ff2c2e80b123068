import { isOwnStream } from '../../../schemas/events/streams.js';
import { AppendRefused, RevisionConflict } from '../../../src/pipeline/event-log/errors.js';
import {
  assertAppendable,
  assertContinuous,
  eventSize,
  ForeignCount,
  ownEvents,
} from '../../../src/pipeline/event-log/event-checks.js';
import {
  type AppendResult,
  type EventLog,
  type EventPlace,
  type LoggedEvent,
  type LogPage,
  MAX_APPEND_BYTES,
  type NewEvent,
  NO_STREAM,
  type Position,
  type StreamEvent,
} from '../../../src/pipeline/event-log/port.js';
import { settleAll } from '../../../src/platform/background/signals.js';
import { pause } from '../../../src/platform/background/waiting.js';

const PAGE_BYTES = 4_000_000;
const POLL_MS = 20;
const RESTORING_MS = 10_000;
const POSITION = /^\d{20}\/\d{20}$/;

/** The data of a log server, which outlives the adapters to it. */
export interface MemoryLogData {
  readonly events: readonly LoggedEvent[];
  readonly deleted: ReadonlySet<string>;
}

export interface MemoryLogOptions {
  readonly onForeign?: (event: LoggedEvent) => void;
}

/**
 * The event log in memory. It behaves as EventStoreDB does where the port allows a difference, and an
 * operator can damage it as that server can be damaged.
 */
export class MemoryLogServer {
  #events: LoggedEvent[] = [];
  readonly #deleted = new Set<string>();
  #positions = 0;
  /** Unix milliseconds until which no call is answered. */
  awayUntil = 0;
  /** Grows with each restart, which cuts every connection. */
  restarts = 0;

  get events(): readonly LoggedEvent[] {
    return this.#events;
  }

  /** Events of a stream, the first one first. */
  of(stream: string): LoggedEvent[] {
    return this.#deleted.has(stream) ? [] : this.#events.filter((event) => event.stream === stream);
  }

  /** All events that readers see. */
  visible(): LoggedEvent[] {
    return this.#deleted.size === 0 ? this.#events : this.#events.filter(({ stream }) => !this.#deleted.has(stream));
  }

  append(stream: string, expectedRevision: number, events: readonly NewEvent[]): AppendResult {
    assertAppendable(stream, expectedRevision, events);
    if (this.#deleted.has(stream)) throw new AppendRefused(`the stream ${stream} was deleted`);
    const last = this.#lastOf(stream);
    if (last !== expectedRevision) {
      const stored = this.of(stream).filter(({ revision }) => revision > expectedRevision);
      const isPresent = events.every((event, place) => stored[place]?.id === event.id);
      if (!isPresent) throw new RevisionConflict(stream, expectedRevision, last);
      return { lastRevision: expectedRevision + events.length };
    }
    for (const [place, event] of events.entries()) this.#push(stream, expectedRevision + 1 + place, event);
    return { lastRevision: expectedRevision + events.length };
  }

  /** Writes an event as another program does. */
  writeForeign(stream: string, type: string): void {
    const id = crypto.randomUUID();
    const nothing = new Uint8Array(0);
    this.#push(stream, this.#lastOf(stream) + 1, { id, type, data: nothing, metadata: nothing });
  }

  /** Removes the first events of a stream, as `$maxCount` does. */
  removeFirst(stream: string, count: number): void {
    this.#events = this.#events.filter((event) => event.stream !== stream || event.revision >= count);
  }

  deleteStream(stream: string): void {
    this.#deleted.add(stream);
  }

  /** Clears the metadata that deleted a stream: its events are there again. */
  undelete(): void {
    this.#deleted.clear();
  }

  copy(): MemoryLogData {
    return { events: [...this.#events], deleted: new Set(this.#deleted) };
  }

  /** Replaces the data by an earlier copy, which takes some seconds. */
  restore(data: MemoryLogData): void {
    this.awayUntil = Date.now() + RESTORING_MS;
    this.restarts += 1;
    this.#events = [...data.events];
    this.#deleted.clear();
    for (const stream of data.deleted) this.#deleted.add(stream);
  }

  #lastOf(stream: string): number {
    return this.of(stream).at(-1)?.revision ?? NO_STREAM;
  }

  #push(stream: string, revision: number, { id, type, data, metadata }: NewEvent): void {
    this.#positions += 1;
    const position = String(this.#positions).padStart(20, '0');
    const bytes = { data: new Uint8Array(data), metadata: new Uint8Array(metadata) };
    this.#events.push({ id, type, stream, revision, position: `${position}/${position}`, ...bytes });
  }
}

/** Opens an adapter to a log in memory. */
export function openMemoryLog(server: MemoryLogServer, options: MemoryLogOptions = {}): EventLog {
  return new MemoryLog(server, options);
}

class MemoryLog implements EventLog {
  readonly kind = 'eventstoredb';
  readonly maxAppendBytes = MAX_APPEND_BYTES;
  readonly #foreign: ForeignCount;

  constructor(
    private readonly server: MemoryLogServer,
    { onForeign = () => undefined }: MemoryLogOptions,
  ) {
    this.#foreign = new ForeignCount(onForeign);
  }

  async append(stream: string, expectedRevision: number, events: readonly NewEvent[]): Promise<AppendResult> {
    return this.server.append(stream, expectedRevision, events);
  }

  appendAll: EventLog['appendAll'] = (appends) =>
    settleAll(appends, 1, (one) => this.append(one.stream, one.expectedRevision, one.events));

  async readStream(stream: string, fromRevision: number, limit: number): Promise<StreamEvent[]> {
    if (limit < 1) return [];
    const all = this.server.of(stream);
    const page = firstBytes(all.filter(({ revision }) => revision >= fromRevision).slice(0, limit));
    assertContinuous(stream, fromRevision, page);
    return page;
  }

  async readEvents(places: readonly EventPlace[]): Promise<(StreamEvent | null)[]> {
    return places.map(
      ({ stream, revision }) => this.server.of(stream).find((event) => event.revision === revision) ?? null,
    );
  }

  async lastRevision(stream: string): Promise<number> {
    return this.server.of(stream).at(-1)?.revision ?? NO_STREAM;
  }

  async lastRevisions(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return new Map(streams.map((stream) => [stream, this.server.of(stream).at(-1)?.revision ?? NO_STREAM]));
  }

  async firstRevisions(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return new Map(streams.map((stream) => [stream, this.server.of(stream)[0]?.revision ?? NO_STREAM]));
  }

  async readAll(after: Position | null, limit: number): Promise<LogPage> {
    if (after !== null && !POSITION.test(after)) throw new TypeError(`not a position: ${JSON.stringify(after)}`);
    const rest = this.server.visible().filter(({ position }) => after === null || position > after);
    const events = firstBytes(rest.slice(0, limit));
    const page = ownEvents(
      { events, next: events.at(-1)?.position ?? after, atEnd: events.length === rest.length },
      isOwnStream,
    );
    this.#foreign.note(page.foreign);
    return page;
  }

  async *subscribe(after: Position | null, signal: AbortSignal): AsyncGenerator<LogPage, void, undefined> {
    let position = after;
    while (!signal.aborted) {
      const page = await this.readAll(position, 500);
      position = page.next;
      if (page.events.length > 0) yield { ...page, next: page.events.at(-1)?.position ?? position };
      else if (page.atEnd) await pause(POLL_MS, signal);
    }
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {}
}

function firstBytes(events: readonly LoggedEvent[]): LoggedEvent[] {
  let bytes = 0;
  const end = events.findIndex((event, place) => {
    bytes += eventSize(event);
    return place > 0 && bytes > PAGE_BYTES;
  });
  return end < 0 ? [...events] : events.slice(0, end);
}
