import { EventLogUnavailable } from './errors.js';
import type { EventLog } from './port.js';

/** A log that answers nothing until it is opened. */
export interface GatedEventLog {
  readonly eventLog: EventLog;
  /** Lets every call through from now on. */
  open(): void;
  isOpen(): boolean;
}

/**
 * Returns a log that fails every call except `ping` with `EventLogUnavailable` until it is opened. A process can thus
 * start while the log is unavailable, and nothing is read from a log before it has been checked.
 */
export function gateEventLog(inner: EventLog): GatedEventLog {
  let isOpen = false;
  const passed = async (): Promise<EventLog> => {
    if (isOpen) return inner;
    throw notChecked();
  };
  const eventLog: EventLog = {
    kind: inner.kind,
    maxAppendBytes: inner.maxAppendBytes,
    append: async (stream, expectedRevision, events) => (await passed()).append(stream, expectedRevision, events),
    appendAll: async (appends) =>
      isOpen ? inner.appendAll(appends) : appends.map(() => ({ status: 'rejected', reason: notChecked() })),
    readStream: async (stream, fromRevision, limit) => (await passed()).readStream(stream, fromRevision, limit),
    readEvents: async (places) => (await passed()).readEvents(places),
    lastRevision: async (stream) => (await passed()).lastRevision(stream),
    lastRevisions: async (streams) => (await passed()).lastRevisions(streams),
    firstRevisions: async (streams) => (await passed()).firstRevisions(streams),
    readAll: async (after, limit) => (await passed()).readAll(after, limit),
    async *subscribe(after, signal) {
      yield* (await passed()).subscribe(after, signal);
    },
    ping: () => inner.ping(),
    close: () => inner.close(),
  };
  const open = (): void => {
    isOpen = true;
  };
  return { eventLog, open, isOpen: () => isOpen };
}

function notChecked(): EventLogUnavailable {
  return new EventLogUnavailable('the event log was not checked yet, because it has not answered since the start');
}
