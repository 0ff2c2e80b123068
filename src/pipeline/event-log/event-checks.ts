import * as z from 'zod';
import { InvalidEventBody, isSealedEventType, parseBody, sealedContent } from '../../../schemas/events/sealed-event.js';
import { AppendTooLarge, LogDiverged, RevisionGap } from './errors.js';
import {
  type AppendOutcome,
  type LoggedEvent,
  type LogPage,
  MAX_APPEND_BYTES,
  type NewEvent,
  NO_STREAM,
  type Position,
  type StreamAppend,
  type StreamEvent,
} from './port.js';

/** Overhead of each event in bytes: the frame, the id and the content type that an adapter adds. */
const EVENT_OVERHEAD = 64;

const STREAM_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,199}$/;
const EVENT_TYPE = /^[A-Za-z][A-Za-z0-9._-]{0,99}$/;
const LOWER_CASE_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Returns the bytes of an event that count against `EventLog.maxAppendBytes`: body, metadata, its
 * type twice (EventStoreDB counts it as UTF-16), and a fixed overhead.
 */
export function eventSize(event: Pick<NewEvent, 'type' | 'data' | 'metadata'>): number {
  return event.data.byteLength + event.metadata.byteLength + 2 * event.type.length + EVENT_OVERHEAD;
}

/** Whether a stream of this name can exist. */
export function isStreamName(name: string): boolean {
  return STREAM_NAME.test(name);
}

/**
 * Refuses invalid events in the same way for every adapter.
 * @throws TypeError for names, ids or revisions of the wrong form, for no events, or for an id used
 *   twice
 * @throws AppendTooLarge
 */
export function assertAppendable(stream: string, expectedRevision: number, events: readonly NewEvent[]): void {
  if (!isStreamName(stream)) throw new TypeError(`not a stream name: ${JSON.stringify(stream)}`);
  if (!Number.isSafeInteger(expectedRevision) || expectedRevision < NO_STREAM) {
    throw new TypeError(`not an expected revision: ${expectedRevision}`);
  }
  if (events.length === 0) throw new TypeError('an append needs at least one event');
  const ids = new Set<string>();
  let bytes = 0;
  for (const event of events) {
    if (!LOWER_CASE_UUID.test(event.id)) throw new TypeError(`not a lower-case UUID: ${JSON.stringify(event.id)}`);
    if (!EVENT_TYPE.test(event.type)) throw new TypeError(`not an event type: ${JSON.stringify(event.type)}`);
    if (ids.has(event.id)) throw new TypeError(`event id ${event.id} is there twice`);
    ids.add(event.id);
    bytes += eventSize(event);
  }
  if (bytes > MAX_APPEND_BYTES) {
    throw new AppendTooLarge(`${events.length} events of ${bytes} bytes; one append takes ${MAX_APPEND_BYTES}`);
  }
}

export function appended(lastRevision: number): AppendOutcome {
  return { status: 'fulfilled', value: { lastRevision } };
}

export function rejected(reason: unknown): AppendOutcome {
  return { status: 'rejected', reason };
}

/** Returns the refusal of an append that no adapter may send to its server, or null if it may be sent. */
export function refusalOf({ stream, expectedRevision, events }: StreamAppend): AppendOutcome | null {
  try {
    assertAppendable(stream, expectedRevision, events);
    return null;
  } catch (error) {
    return rejected(error);
  }
}

/**
 * Verifies that the event in the log equals the wanted event byte for byte.
 * @throws LogDiverged with the name of the differing part, never a body, because bodies may contain
 *   personal data
 */
export function assertSameEvent(wanted: NewEvent, found: StreamEvent): void {
  const reason = difference(wanted, found);
  if (reason !== null) throw new LogDiverged(found.stream, found.revision, reason);
}

function difference(wanted: NewEvent, found: NewEvent): string | null {
  if (wanted.id !== found.id) return `event ${found.id} stands where ${wanted.id} belongs`;
  if (wanted.type !== found.type) return `event ${wanted.id} has type ${found.type} instead of ${wanted.type}`;
  if (Buffer.compare(wanted.data, found.data) !== 0) return `the body of event ${wanted.id} has other bytes`;
  if (Buffer.compare(wanted.metadata, found.metadata) !== 0)
    return `the metadata of event ${wanted.id} has other bytes`;
  return null;
}

/**
 * Verifies that a page of a stream has no gap, not even before its first event. A server can lose events silently, and
 * a reader that ignored the gap would treat the remaining events as complete.
 * @param from the requested revision
 * @throws RevisionGap
 */
export function assertContinuous(stream: string, from: number, events: readonly StreamEvent[]): void {
  for (const [place, { revision }] of events.entries()) {
    if (revision !== from + place) throw new RevisionGap(stream, from + place, revision);
  }
}

/** Finds gaps in the streams that a reader of the whole log encounters. */
export class Continuity {
  readonly #last = new Map<string, number>();

  /**
   * @param fromStart whether the reader began at the start of the log, so that each stream must begin with revision 0
   */
  constructor(private readonly fromStart: boolean) {}

  /** Returns the gap before an event, or null if there is none, and expects the following revision next. */
  gapBefore({ stream, revision }: Pick<StreamEvent, 'stream' | 'revision'>): RevisionGap | null {
    const last = this.#last.get(stream) ?? (this.fromStart ? NO_STREAM : revision - 1);
    this.#last.set(stream, revision);
    return revision === last + 1 ? null : new RevisionGap(stream, last + 1, revision);
  }

  /** @throws RevisionGap */
  check(events: readonly Pick<StreamEvent, 'stream' | 'revision'>[]): void {
    for (const event of events) {
      const gap = this.gapBefore(event);
      if (gap !== null) throw gap;
    }
  }

  /** Returns the last revision of a stream that was encountered, or `NO_STREAM` (-1) if there is none. */
  lastOf(stream: string): number {
    return this.#last.get(stream) ?? NO_STREAM;
  }
}

/** A page of events of any stream, as the server returns them. */
type RawPage = Omit<LogPage, 'foreign'>;

/**
 * Separates the events of this service from those that another program wrote to streams of its own.
 * @param isOwnStream whether the service writes to a stream of this name
 */
export function ownEvents(page: RawPage, isOwnStream: (stream: string) => boolean): LogPage {
  const events: LoggedEvent[] = [];
  const foreign: LoggedEvent[] = [];
  for (const event of page.events) (isOwnStream(event.stream) ? events : foreign).push(event);
  return { ...page, events, foreign };
}

/** Counts each foreign event once, however many readers of the process skip it. */
export class ForeignCount {
  #newest: Position = '';

  constructor(private readonly onForeign: (event: LoggedEvent) => void) {}

  note(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      if (event.position <= this.#newest) continue;
      this.#newest = event.position;
      this.onForeign(event);
    }
  }
}

const AnyBody = z.looseObject({});

/**
 * Returns whether the service cannot have written an event, because its body is not a JSON object or does not match its
 * type. An event of an unknown type may come from a newer release.
 */
export function isForeign(event: StreamEvent): boolean {
  const { type, data } = event;
  try {
    if (isSealedEventType(type)) sealedContent(event);
    else parseBody(AnyBody, type, data);
    return false;
  } catch (error) {
    if (!(error instanceof InvalidEventBody)) throw error;
    return true;
  }
}
