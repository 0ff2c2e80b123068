import { AppendOutcomeUnknown } from '../../../src/pipeline/event-log/errors.js';
import type { EventLog, NewEvent } from '../../../src/pipeline/event-log/port.js';

export interface AppendCall {
  readonly stream: string;
  readonly expectedRevision: number;
  readonly events: readonly NewEvent[];
}

/** What to do to an append; null: nothing. `lost`: it is persisted, and its answer lost. */
export type Fault = null | { readonly before: Error } | 'lost' | { readonly lost: Error };

/** A log that does faults to appends of the real one beneath. */
export function faultyLog(log: EventLog, fault: (call: AppendCall) => Fault | Promise<Fault>): EventLog {
  return {
    kind: log.kind,
    maxAppendBytes: log.maxAppendBytes,
    append: async (stream, expectedRevision, events) => {
      const chosen = await fault({ stream, expectedRevision, events });
      if (chosen !== null && typeof chosen === 'object' && 'before' in chosen) throw chosen.before;
      const result = await log.append(stream, expectedRevision, events);
      if (chosen === 'lost') throw new AppendOutcomeUnknown('the answer was lost');
      if (chosen !== null) throw chosen.lost;
      return result;
    },
    readStream: (stream, from, limit) => log.readStream(stream, from, limit),
    lastRevision: (stream) => log.lastRevision(stream),
    readAll: (after, limit) => log.readAll(after, limit),
    subscribe: (after, signal) => log.subscribe(after, signal),
    ping: () => log.ping(),
    close: () => log.close(),
  };
}
