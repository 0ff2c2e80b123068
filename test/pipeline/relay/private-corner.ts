import { type EventLog, type LogPage, NO_STREAM, type StreamEvent } from '../../../src/pipeline/event-log/port.js';

/**
 * Returns a separate log of one test within a shared one: its streams have a prefix there, and
 * other streams are hidden.
 */
export function privateCorner(eventLog: EventLog, prefix: string): EventLog {
  const outer = (stream: string): string => `${prefix}-${stream}`;
  const inner = <E extends StreamEvent>(event: E): E => ({ ...event, stream: event.stream.slice(prefix.length + 1) });
  const own = (page: LogPage): LogPage => ({
    ...page,
    events: page.events.filter((event) => event.stream.startsWith(`${prefix}-`)).map(inner),
  });
  return {
    kind: eventLog.kind,
    maxAppendBytes: eventLog.maxAppendBytes,
    append: (stream, expected, events) => eventLog.append(outer(stream), expected, events),
    appendAll: (appends) => eventLog.appendAll(appends.map((append) => ({ ...append, stream: outer(append.stream) }))),
    readStream: async (stream, from, limit) => (await eventLog.readStream(outer(stream), from, limit)).map(inner),
    readEvents: async (places) => {
      const found = await eventLog.readEvents(places.map((place) => ({ ...place, stream: outer(place.stream) })));
      return found.map((event) => (event === null ? null : inner(event)));
    },
    lastRevision: (stream) => eventLog.lastRevision(outer(stream)),
    lastRevisions: async (streams) => {
      const found = await eventLog.lastRevisions(streams.map(outer));
      return new Map(streams.map((stream) => [stream, found.get(outer(stream)) ?? NO_STREAM]));
    },
    firstRevisions: async (streams) => {
      const found = await eventLog.firstRevisions(streams.map(outer));
      return new Map(streams.map((stream) => [stream, found.get(outer(stream)) ?? NO_STREAM]));
    },
    readAll: async (after, limit) => own(await eventLog.readAll(after, limit)),
    async *subscribe(after, signal) {
      for await (const page of eventLog.subscribe(after, signal)) {
        const mine = own(page);
        if (mine.events.length > 0) yield mine;
      }
    },
    ping: () => eventLog.ping(),
    close: () => eventLog.close(),
  };
}
