import type { EventLog } from '../../../src/pipeline/event-log/port.js';
import { faultyLog } from './faulty-log.js';

/** Returns a log as one outside the database, which the relay appends to. */
export function elsewhere(eventLog: EventLog): EventLog {
  return {
    ...faultyLog(eventLog, () => null),
    appendAll: (appends) => eventLog.appendAll(appends),
    kind: 'eventstoredb',
  };
}
