import { timeOfEventId } from '../../erasure/event-id-times.js';
import type { EventLog, Position } from '../../pipeline/event-log/port.js';

const EVENTS = 10;
const MAX_PAGES = 20;

/**
 * How old the first event is that a projection has not read, by the time in its id, in seconds; 0 if it has read everything. Events without a time (those of
 * the ledger have random ids) are passed over: a few are looked at, not the whole log.
 * @param now Unix milliseconds
 * @throws EventLogUnavailable
 */
export async function projectionLag(eventLog: EventLog, position: Position | null, now: number): Promise<number> {
  let after = position;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await eventLog.readAll(after, EVENTS);
    const timed = page.events.find(({ id }) => isTimeOrdered(id));
    if (timed !== undefined) return Math.max(0, (now - timeOfEventId(timed.id).getTime()) / 1000);
    if (page.atEnd) return 0;
    after = page.next;
  }
  return 0;
}

/** UUID version 7 (RFC 9562 §5.7). */
function isTimeOrdered(id: string): boolean {
  return id[14] === '7';
}
