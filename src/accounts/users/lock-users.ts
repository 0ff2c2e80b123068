import type { Queryable } from '../../platform/database/pool.js';

/**
 * Takes a tenant's users until the transaction ends. Whatever changes what a user may do, or is done because of what one may do, takes them first: so the
 * one comes before the other, and rights that are read afterwards hold until the end.
 * @param db within a transaction, in the role `consent_ledger_admin`
 */
export async function lockUsersOf(db: Queryable, tenantId: string): Promise<void> {
  await db.query('select from tenants where id = $1 for no key update', [tenantId]);
}
