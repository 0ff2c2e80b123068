import { AppendOutcomeUnknown } from '../../../src/pipeline/event-log/errors.js';
import type { EventLog, NewEvent } from '../../../src/pipeline/event-log/port.js';
import { settleAll } from '../../../src/platform/background/signals.js';

export interface AppendCall {
  readonly stream: string;
  readonly expectedRevision: number;
  readonly events: readonly NewEvent[];
}

/** Fault of an append; null: none. `lost`: the append is persisted and its response is lost. */
export type Fault = null | { readonly before: Error } | 'lost' | { readonly lost: Error };

/** Returns a log that injects faults into appends to the given one. */
export function faultyLog(eventLog: EventLog, fault: (call: AppendCall) => Fault | Promise<Fault>): EventLog {
  const append: EventLog['append'] = async (stream, expectedRevision, events) => {
    const chosen = await fault({ stream, expectedRevision, events });
    if (chosen !== null && typeof chosen === 'object' && 'before' in chosen) throw chosen.before;
    const result = await eventLog.append(stream, expectedRevision, events);
    if (chosen === 'lost') throw new AppendOutcomeUnknown('the answer was lost');
    if (chosen !== null) throw chosen.lost;
    return result;
  };
  return {
    kind: eventLog.kind,
    maxAppendBytes: eventLog.maxAppendBytes,
    append,
    appendAll: (appends) => settleAll(appends, 1, (one) => append(one.stream, one.expectedRevision, one.events)),
    readStream: (stream, from, limit) => eventLog.readStream(stream, from, limit),
    readEvents: (places) => eventLog.readEvents(places),
    lastRevision: (stream) => eventLog.lastRevision(stream),
    lastRevisions: (streams) => eventLog.lastRevisions(streams),
    firstRevisions: (streams) => eventLog.firstRevisions(streams),
    readAll: (after, limit) => eventLog.readAll(after, limit),
    subscribe: (after, signal) => eventLog.subscribe(after, signal),
    ping: () => eventLog.ping(),
    close: () => eventLog.close(),
  };
}
