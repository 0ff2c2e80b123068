import { timeOfEventId } from '../../erasure/requests.js';
import type { EventLog, Position } from '../../pipeline/event-log/port.js';

const EVENTS = 10;
const MAX_PAGES = 20;

/**
 * The age in seconds of the first event that a projection has not read; 0 if it has read all
 * events. The age follows from the time in the event's id. Ledger events have random ids without a
 * time and are skipped. A bounded number of events is examined.
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
