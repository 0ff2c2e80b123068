import { AppendTooLarge } from './errors.js';
import { MAX_APPEND_BYTES, type NewEvent, NO_STREAM } from './port.js';

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
 * Rejects invalid events in the same way for every adapter.
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
