import { AppendOutcomeUnknown, EventLogUnavailable } from '../../../src/pipeline/event-log/errors.js';
import type { EventLog } from '../../../src/pipeline/event-log/port.js';
import { settleAll } from '../../../src/platform/background/signals.js';
import type { TimestampClient } from '../../../src/timestamping/client.js';
import { type MemoryLogServer, openMemoryLog } from './memory-log.js';
import type { Scheduler, SimulatedProcess } from './scheduler.js';

/** The event log as a process sees it. */
export function logOf(server: MemoryLogServer, scheduler: Scheduler, process: SimulatedProcess): EventLog {
  const eventLog = openMemoryLog(server);
  const away = (): Error => new EventLogUnavailable('the event log does not answer');
  const unknown = (isDone: boolean): Error => (isDone ? new AppendOutcomeUnknown('the answer was lost') : away());
  /** A call on a connection that a restart cut is lost. */
  const connected = <T>(work: () => Promise<T>): (() => Promise<T>) => {
    const { restarts } = server;
    return () => (server.restarts > restarts || server.awayUntil > Date.now() ? Promise.reject(away()) : work());
  };
  const read = <T>(what: string, work: () => Promise<T>): Promise<T> =>
    scheduler.call(process, what, connected(work), { failure: away });
  const append: EventLog['append'] = (stream, expectedRevision, events) =>
    scheduler.call(
      process,
      `append ${events.map(({ type }) => type.replace(/\..*/, '')).join(', ')}`,
      connected(() => eventLog.append(stream, expectedRevision, events)),
      { failure: unknown, mayDouble: true },
    );
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
    readAll: (after, limit) => read('read the log', () => eventLog.readAll(after, limit)),
    subscribe: (after, signal) => eventLog.subscribe(after, signal),
    ping: () => eventLog.ping(),
    close: () => Promise.resolve(),
  };
}

/** The authorities as the stamper of a process sees them. */
export function authoritiesOf(
  client: TimestampClient,
  scheduler: Scheduler,
  process: SimulatedProcess,
): TimestampClient {
  return {
    stamp: (data, options) =>
      scheduler.call(process, 'stamp', () => client.stamp(data, options), {
        failure: () => new Error('the authority does not answer'),
        mayDouble: true,
      }),
  };
}
