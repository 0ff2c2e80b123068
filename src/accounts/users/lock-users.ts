import type { Queryable } from '../../platform/database/pool.js';

/**
 * Locks a tenant's users until the transaction ends. Every transaction that changes a user's rights
 * or depends on them takes this lock first. Rights that are read afterwards are therefore valid
 * until the end.
 * @param db in a transaction, in the role `consent_ledger_admin`
 */
export async function lockUsersOf(db: Queryable, tenantId: string): Promise<void> {
  await db.query('select from tenants where id = $1 for no key update', [tenantId]);
}
