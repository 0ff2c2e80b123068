import { consentsStream } from '../../schemas/events/streams.js';
import type { EventLog } from '../pipeline/event-log/port.js';
import type { Queryable } from '../platform/database/pool.js';
import { recordsWithoutKey } from '../platform/database/shared-statements.js';
import type { JournalLine } from './journal-line.js';

const PAGE = 500;

/**
 * Finds the listed records that neither this database nor the log contains. They were admitted
 * after the restored backup and are lost. They must not be announced. The log is read
 * once for each site that has a record unknown to the database.
 * @returns their event ids
 */
export async function lostRecords(
  db: Queryable,
  eventLog: EventLog,
  erasures: readonly NonNullable<JournalLine['erased']>[],
): Promise<Set<string>> {
  const bySite = new Map<string, Set<string>>();
  for (const { site_id: siteId, event_ids: ids } of erasures) {
    const unknown = await recordsWithoutKey(db, ids);
    if (unknown.length > 0) bySite.set(siteId, new Set([...(bySite.get(siteId) ?? []), ...unknown]));
  }
  const lost = new Set<string>();
  for (const [siteId, ids] of bySite) {
    await removeFoundInLog(eventLog, consentsStream(siteId), ids);
    for (const id of ids) lost.add(id);
  }
  return lost;
}

async function removeFoundInLog(eventLog: EventLog, stream: string, ids: Set<string>): Promise<void> {
  for (let revision = 0; ids.size > 0; ) {
    const page = await eventLog.readStream(stream, revision, PAGE);
    if (page.length === 0) return;
    for (const { id } of page) ids.delete(id);
    revision += page.length;
  }
}
