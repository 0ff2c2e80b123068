import { type Queryable, withTransaction } from '../database/pool.js';
import type { AuditEntry } from './entry.js';

/**
 * Appends an entry to the audit log in the transaction of its change, so that neither exists
 * without the other.
 * @param db may INSERT into `audit_log`
 */
export async function appendAuditEntry(db: Queryable, entry: AuditEntry): Promise<void> {
  const { tenantId, actor, action, subject, details } = entry;
  // A transaction of its own seals the line.
  await withTransaction(db, async (db) => {
    await db.query(
      `insert into audit_log (tenant_id, actor_kind, actor_id, action, subject_kind, subject_id, details)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [
        tenantId,
        actor.kind,
        actor.kind === 'user' ? actor.userId : null,
        action,
        subject.kind,
        subject.id,
        JSON.stringify(details),
      ],
    );
  });
}
