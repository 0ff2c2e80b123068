import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { LogDiverged } from '../event-log/errors.js';
import type { EventLog } from '../event-log/port.js';
import { assertSameEvent } from '../event-log/same-event.js';
import { storedEvents } from './stored-events.js';
import { firstEventsOf, loggedRevision, markRelayed } from './waiting.js';

const PAGE = 200;

const waitingRows = z.array(z.object({ number: z.int(), revision: z.int(), count: z.int() }));

/**
 * Records which waiting events of a stream the log already contains, for example after a lost response
 * or a crash between append and record. Each is compared by id and bytes with the one that waits at its
 * revision.
 * @throws LogDiverged if the log has another event there
 * @throws EventLogUnavailable, StreamMoved
 */
export async function reconcile(db: Queryable, eventLog: EventLog, siteId: string, stream: string): Promise<void> {
  for (;;) {
    const revision = await loggedRevision(db, stream);
    const found = await eventLog.readStream(stream, revision + 1, PAGE);
    if (found.length === 0) return;
    const stored = await storedEvents(db, stream, revision, found.length);
    const rows = await waitingRowsOf(db, siteId, stream);
    if ((await loggedRevision(db, stream)) !== revision) continue;
    for (const [place, event] of found.entries()) {
      const own = stored[place];
      if (own === undefined)
        throw new LogDiverged(stream, event.revision, `event ${event.id} was not admitted by this database`);
      assertSameEvent(own, event);
    }
    await markRelayed(db, firstEventsOf(rows, found.length));
  }
}

async function waitingRowsOf(db: Queryable, siteId: string, stream: string) {
  const { rows } = await db.query(
    `select w.number, w.revision, w.count from event_log.waiting w join event_log.streams s on s.number = w.stream
      where w.site_id = $1 and s.name = $2 order by w.number limit ${PAGE}`,
    [siteId, stream],
  );
  return waitingRows.parse(rows).map((row) => ({ ...row, siteId }));
}
