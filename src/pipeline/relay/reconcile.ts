import type { Queryable } from '../../platform/database/pool.js';
import { LogDiverged } from '../event-log/errors.js';
import type { EventLog, StreamEvent } from '../event-log/port.js';
import { assertSameEvent } from '../event-log/same-event.js';
import { findWaiting, markRelayed, relayedRevision, relayedRows, StreamMoved } from './outbox.js';

const PAGE = 200;

/**
 * Records which waiting rows of a stream the log already contains, for example after a lost
 * response or a crash between append and record. Rows are identified by id and bytes in any order,
 * because later commits may lie between them.
 * @returns the last revision of the stream in the log, now recorded
 * @throws LogDiverged if the log has an event that does not wait in the outbox, or one with other
 *   bytes
 * @throws EventLogUnavailable, StreamMoved
 */
export async function reconcile(db: Queryable, eventLog: EventLog, siteId: string, stream: string): Promise<number> {
  for (;;) {
    const revision = await relayedRevision(db, stream);
    const found = await eventLog.readStream(stream, revision + 1, PAGE);
    if (found.length === 0) return revision;
    const seqs = await waitingRowsOf(db, siteId, stream, revision, found);
    if (seqs === null) continue;
    const refused = await markRelayed(db, [relayedRows(siteId, stream, revision, seqs)]);
    if (refused.size > 0) throw StreamMoved.from(stream, revision);
  }
}

/**
 * Returns the outbox rows of events found in the log, in order; null if another relay recorded them
 * in the meantime.
 */
async function waitingRowsOf(
  db: Queryable,
  siteId: string,
  stream: string,
  revision: number,
  found: readonly StreamEvent[],
): Promise<number[] | null> {
  const waiting = await findWaiting(
    db,
    siteId,
    found.map((event) => event.id),
  );
  const seqs: number[] = [];
  for (const event of found) {
    const row = waiting.get(event.id);
    if (row === undefined || row.stream !== stream) {
      if ((await relayedRevision(db, stream)) !== revision) return null;
      throw new LogDiverged(stream, event.revision, `event ${event.id} does not come from this database's outbox`);
    }
    assertSameEvent(row.event, event);
    seqs.push(row.seq);
  }
  return seqs;
}
