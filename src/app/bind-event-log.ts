import * as z from 'zod';
import { ensureLogIdentity } from '../pipeline/event-log/log-identity.js';
import type { EventLog } from '../pipeline/event-log/port.js';
import type { Queryable } from '../platform/database/pool.js';

const identityRows = z.array(z.object({ log_id: z.string() })).max(1);

/**
 * Checks that the log belongs to this database. The first start binds the two to each other.
 * @param db in the role `consent_ledger_worker`
 * @throws LogIdentityMismatch, EventLogUnavailable
 */
export async function bindEventLog(db: Queryable, eventLog: EventLog): Promise<void> {
  const { rows } = await db.query('select log_id from event_log_identity');
  const [stored] = identityRows.parse(rows);
  const identity = await ensureLogIdentity(eventLog, stored?.log_id ?? null);
  await db.query('insert into event_log_identity (log_id) values ($1) on conflict do nothing', [identity]);
}
