import type { Queryable } from './pool.js';

/**
 * Locks the test records of a site until the end of the transaction, so that their numbers become visible in their
 * order. It is not the row of the site, which consents with live keys would wait for.
 * @param db in a transaction
 */
export async function lockTestRecords(db: Queryable, siteId: string): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended('test records of ' || $1::text, 0))`, [siteId]);
}
