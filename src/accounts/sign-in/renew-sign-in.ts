import { z } from 'zod';
import { appendAuditEntry } from '../../platform/audit-log/append-entry.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import { IDLE_SECONDS } from '../credentials/lifetimes.js';
import { newSecretToken, secretTokenDigest } from '../credentials/secret-tokens.js';
import { type SignedInUser, UserRow } from '../users/user-directory.js';

/** The result of a refresh-token exchange. */
export interface RenewedSignIn {
  readonly user: SignedInUser;
  /** The token for the next renewal. */
  readonly refreshToken: string;
}

const RenewedRow = z.object({ sign_in_id: z.string() }).loose();
const EndedRows = z.array(z.object({ id: z.string(), user_id: z.string(), tenant_id: z.string() }));

/**
 * Exchanges a refresh token for the next one. Each token is valid once: one row of one statement
 * decides, so that of concurrent uses one succeeds. A reused token may be stolen. Its whole sign-in
 * ends (RFC 9700 §4.14.2), with an audit entry.
 * @param db in the role `consent_ledger_api`
 * @returns null if the token is unknown or used, or the sign-in has ended
 */
export async function renewSignIn(db: Queryable, refreshToken: string): Promise<RenewedSignIn | null> {
  const presented = secretTokenDigest('refresh', refreshToken);
  if (presented === null) return null;
  const next = newSecretToken('refresh');
  const { rows } = await withTransaction(db, (db) =>
    db.query(
      `with renewed as (
       update sign_ins s
          set refresh_digest = $2, renewed_at = now(), lapses_at = least(s.expires_at, now() + make_interval(secs => $3))
         from users u
        where s.refresh_digest = $1 and s.ended_at is null and s.lapses_at > now() and u.id = s.user_id and u.disabled_at is null
       returning s.id as sign_in_id, u.id, u.tenant_id, u.email, u.role),
     used as (insert into used_refresh_tokens (digest, sign_in_id) select $1, sign_in_id from renewed)
     select sign_in_id, id, tenant_id, email, role from renewed`,
      [presented, next.digest, IDLE_SECONDS],
    ),
  );
  const [row] = z.array(RenewedRow).parse(rows);
  if (row !== undefined) {
    return { user: { ...UserRow.parse(row), signInId: row.sign_in_id }, refreshToken: next.token };
  }
  await endWhereReused(db, presented);
  return null;
}

async function endWhereReused(db: Queryable, presented: Buffer): Promise<void> {
  await withTransaction(db, async (db) => {
    const { rows } = await db.query(
      `update sign_ins s set ended_at = now(), end_reason = 'token_reused'
         from used_refresh_tokens t, users u
        where t.digest = $1 and s.id = t.sign_in_id and s.ended_at is null and u.id = s.user_id
       returning s.id, s.user_id, u.tenant_id`,
      [presented],
    );
    for (const ended of EndedRows.parse(rows)) {
      await appendAuditEntry(db, {
        tenantId: ended.tenant_id,
        actor: { kind: 'service' },
        action: 'sign_in.end',
        subject: { kind: 'sign_in', id: ended.id },
        details: { reason: 'token_reused', user_id: ended.user_id },
      });
    }
  });
}
