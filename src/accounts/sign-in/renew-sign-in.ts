import * as z from 'zod';
import { appendAuditEntry } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import { hmacSha256, type RowSeals, sealed, sealedRow } from '../../platform/keys/index.js';
import { IDLE_SECONDS } from '../credentials/lifetimes.js';
import { derivedSecretToken, type SecretToken, secretTokenDigest } from '../credentials/secret-tokens.js';
import { type SignedInUser, UserRow } from '../users/user-directory.js';

/** The result of a refresh-token exchange. */
export interface RenewedSignIn {
  readonly user: SignedInUser;
  /** The token for the next renewal. */
  readonly refreshToken: string;
}

const RenewedRows = z.array(z.object({ sign_in_id: z.string(), user: sealedRow('users') }));
const EndedRows = z.array(z.object({ id: z.string(), user_id: z.string(), tenant_id: z.string() }));

/** A request to renew a sign-in. */
export interface Renewal {
  readonly refreshToken: string;
  /** Address and user agent of the client: a repeat from elsewhere is a reuse. */
  readonly client: string;
  /** Key from which the next token is derived, 32 bytes. */
  readonly refreshKey: Uint8Array;
}

/** For so long the same client gets the same next token again. */
const REPEAT_SECONDS = 10;

const USER = `s.id as sign_in_id, ${sealed('users', 'u')} as "user"`;

/**
 * Exchanges a refresh token for the next one. Each token is valid once: one row of one statement
 * decides, so that of concurrent uses one succeeds. A reused token may be stolen. Its whole sign-in
 * ends (RFC 9700 §4.14.2), with an audit entry.
 *
 * The processes of one backend may renew at once, and an answer may be lost. Therefore a repeat gets
 * the same next token if it comes within seconds from the same client, and the next token has not
 * been used. The service does not store that token: it derives it from the presented one and the
 * client again. As the next token is the one in force, the time of the last renewal is that of this
 * one. It is under the seal of the sign-in, so that an edit of the database makes no repeat later.
 * @param db in the role `consent_ledger_api`
 * @returns null if the token is unknown or used, the sign-in has ended, or the user's row was altered
 */
export async function renewSignIn(
  db: Queryable,
  seals: RowSeals,
  { refreshToken, client, refreshKey }: Renewal,
): Promise<RenewedSignIn | null> {
  const presented = secretTokenDigest('refresh', refreshToken);
  if (presented === null) return null;
  const next = derivedSecretToken('refresh', hmacSha256(refreshKey, `next refresh token\0${refreshToken}\0${client}`));
  const { rows } = await withTransaction(db, (db) =>
    db.query(
      `with renewed as (
       update sign_ins s
          set refresh_digest = $2, renewed_at = now(), lapses_at = least(s.expires_at, now() + make_interval(secs => $3))
         from users u
        where s.refresh_digest = $1 and s.ended_at is null and s.lapses_at > now() and u.id = s.user_id and u.disabled_at is null
       returning ${USER}),
     used as (insert into used_refresh_tokens (digest, sign_in_id) select $1, sign_in_id from renewed)
     select sign_in_id, "user" from renewed`,
      [presented, next.digest, IDLE_SECONDS],
    ),
  );
  const [row] = RenewedRows.parse(rows.length > 0 ? rows : await repeated(db, presented, next));
  if (row === undefined) {
    await endWhereReused(db, presented);
    return null;
  }
  const user = await seals.open(row.user, UserRow);
  return user && { user: { ...user, signInId: row.sign_in_id }, refreshToken: next.token };
}

async function repeated(db: Queryable, presented: Buffer, next: SecretToken): Promise<readonly unknown[]> {
  const { rows } = await db.query(
    `select ${USER}
       from used_refresh_tokens t join sign_ins s on s.id = t.sign_in_id join users u on u.id = s.user_id
      where t.digest = $1 and s.renewed_at > now() - make_interval(secs => $3) and s.refresh_digest = $2
        and s.ended_at is null and s.lapses_at > now() and u.disabled_at is null`,
    [presented, next.digest, REPEAT_SECONDS],
  );
  return rows;
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
