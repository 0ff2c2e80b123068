import { randomBytes, randomUUID } from 'node:crypto';
import { appendExactlyOnce } from '../../../src/pipeline/event-log/append-exactly-once.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../../src/pipeline/event-log/errors.js';
import {
  type EventLog,
  type LoggedEvent,
  type NewEvent,
  NO_STREAM,
  type Position,
} from '../../../src/pipeline/event-log/port.js';
import { until } from '../../support/wait.js';
import type { EventLogFixture } from './fixture.js';

/** Returns the name of a stream that no other test uses. */
export function newStream(prefix = 'consents'): string {
  return `${prefix}-${randomUUID()}`;
}

/** Returns `count` events of `bytes` random bytes each. */
export function newEvents(count: number, bytes = 64): NewEvent[] {
  return Array.from({ length: count }, () => ({
    id: randomUUID(),
    type: 'ConsentRecorded.v1',
    data: randomBytes(bytes),
    metadata: new Uint8Array(0),
  }));
}

/** Returns the event as plain comparable values. */
export function plain(event: NewEvent): { id: string; type: string; data: string; metadata: string } {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  return { id: event.id, type: event.type, data: hex(event.data), metadata: hex(event.metadata) };
}

/** Reads every event after `after`, page by page. */
export async function readToEnd(eventLog: EventLog, after: Position | null, limit = 200): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  let position = after;
  for (;;) {
    const page = await eventLog.readAll(position, limit);
    events.push(...page.events);
    position = page.next;
    if (page.atEnd) return events;
  }
}

/** Appends a marker event and returns its position, the newest of the log. */
export async function currentEnd(fixture: Pick<EventLogFixture, 'knownEnd'>, eventLog: EventLog): Promise<Position> {
  const stream = newStream();
  await eventLog.append(stream, NO_STREAM, newEvents(1));
  for (;;) {
    const page = await eventLog.readAll(fixture.knownEnd, 1_000);
    fixture.knownEnd = page.next;
    const marker = page.events.find((event) => event.stream === stream);
    if (marker) return marker.position;
  }
}

/** Reads every event of a stream, page by page. */
export async function readWholeStream(eventLog: EventLog, stream: string): Promise<NewEvent[]> {
  const events: NewEvent[] = [];
  for (;;) {
    const page = await eventLog.readStream(stream, events.length, 500);
    if (page.length === 0) return events;
    events.push(...page);
  }
}

/** Appends events, retrying over any number of server outages. */
export async function appendPersistently(
  eventLog: EventLog,
  stream: string,
  expected: number,
  events: NewEvent[],
): Promise<void> {
  await until(() =>
    appendExactlyOnce(eventLog, stream, expected, events).then(
      () => true,
      (error: unknown) => {
        if (error instanceof EventLogUnavailable || error instanceof AppendOutcomeUnknown) return false;
        throw error;
      },
    ),
  );
}
