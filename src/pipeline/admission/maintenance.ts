import type { Queryable } from '../../platform/database/pool.js';

/**
 * Interval of `maintainAdmission`, in milliseconds: well below a generation of nonces, the shortest
 * retention here.
 */
export const MAINTENANCE_INTERVAL_MS = 20_000;

/** The tables of test keys, with the primary key and the time column of each. */
const TEST_TABLES = [
  ['test_records', 'number', 'created_at'],
  ['test_approval_tokens', 'id', 'created_at'],
  ['test_erasures', 'id', 'requested_at'],
] as const;

/**
 * Removes expired admission state. Starts new generations of nonces and idempotency keys when they are due. Deletes
 * expired approval tokens that were never consumed, and after 30 days conflicts of idempotency keys and all data of
 * test keys. Each step is a short transaction and may run in several processes at once. A late run keeps data longer,
 * never shorter.
 * @param db a handle in the role `consent_ledger_worker`
 * @throws any database error; the caller runs it again at the next interval
 */
export async function maintainAdmission(db: Queryable): Promise<void> {
  await db.query("select advance_admission_generation('nonces')");
  await db.query("select advance_admission_generation('idempotency')");
  await db.query(
    `delete from approval_tokens where id in (
       select id from approval_tokens where consumed_by is null and expires_at < now() - interval '1 day'
       order by expires_at limit 1000 for update skip locked)`,
  );
  await db.query("delete from idempotency_conflicts where last_at < now() - interval '30 days'");
  for (const [table, key, time] of TEST_TABLES) {
    await db.query(
      `delete from ${table} where ${key} in (
         select ${key} from ${table} where ${time} < now() - interval '30 days' order by ${time} limit 1000)`,
    );
  }
}
