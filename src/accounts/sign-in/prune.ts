import type { Queryable } from '../../platform/database/pool.js';
import { INVITATIONS_KEPT_SECONDS, KEPT_AFTER_END_SECONDS } from '../credentials/lifetimes.js';

const STATEMENTS = [
  { table: 'sign_ins', end: 'lapses_at', kept: KEPT_AFTER_END_SECONDS },
  { table: 'password_resets', end: 'expires_at', kept: KEPT_AFTER_END_SECONDS },
  { table: 'mails', end: 'expires_at', kept: KEPT_AFTER_END_SECONDS },
  { table: 'invitations', end: 'expires_at', kept: INVITATIONS_KEPT_SECONDS },
].map(({ table, end, kept }) => ({
  text: `delete from ${table} where id in (
    select id from ${table} where ${end} < now() - make_interval(secs => $1) order by ${end}, id limit 1000)`,
  values: [kept],
}));

/**
 * Deletes sign-ins with the digests of their refresh tokens, password resets, invitations and mails after
 * their retention period. Each call deletes at most 1,000 rows per table.
 * @param db in the role `consent_ledger_worker`
 */
export async function pruneSignIns(db: Queryable): Promise<void> {
  await db.query(
    `delete from sign_up_requests where address_digest in (
       select address_digest from sign_up_requests where requested_at < now() - interval '1 day' order by requested_at limit 1000)`,
  );
  for (const statement of STATEMENTS) await db.query(statement);
}
