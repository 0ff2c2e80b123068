import type { JsonObject } from '../../../schemas/json/json-value.js';
import { type AuditSubject, appendAuditEntry } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { Operation } from '../server/operation.js';
import { actorOf, type Caller } from './caller.js';

/**
 * Appends the entry of an operation to the audit log.
 * @throws Error if the operation names no action
 */
export async function appendEntry(
  db: Queryable,
  { id, action }: Operation,
  caller: Caller,
  subject: AuditSubject,
  details: JsonObject = {},
): Promise<void> {
  if (action === null) throw new Error(`${id} needs an audit entry, and names no action`);
  await appendAuditEntry(db, { tenantId: caller.tenantId, actor: actorOf(caller), action, subject, details });
}
