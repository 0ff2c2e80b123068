import type { Queryable } from '../../platform/database/pool.js';

/** How often `keepUp` should run: well within a generation of nonces, the shortest of what it looks after. */
export const UPKEEP_INTERVAL_MS = 20_000;

/**
 * Lets go of what admission remembers no longer: begins new generations of nonces and idempotency keys where it is time, and deletes approval
 * tokens that nobody used. Each part is a short transaction, may run in several processes at once, and may be
 * late: then more is remembered, never less.
 * @param db in the role `consent_ledger_worker`
 * @throws what the database throws; to be called again at the next interval all the same
 */
export async function keepUp(db: Queryable): Promise<void> {
  await db.query("select advance_admission_generation('nonces')");
  await db.query("select advance_admission_generation('idempotency')");
  await db.query(
    `delete from approval_tokens where id in (
       select id from approval_tokens where consumed_by is null and expires_at < now() - interval '1 day'
       order by expires_at limit 1000 for update skip locked)`,
  );
}
