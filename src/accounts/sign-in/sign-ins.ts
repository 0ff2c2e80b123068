import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { hmacSha256, type RowSeals, sealed, sealedRow } from '../../platform/keys/index.js';
import {
  derivedSecretToken,
  IDLE_SECONDS,
  INVITATIONS_KEPT_SECONDS,
  KEPT_AFTER_END_SECONDS,
  newSecretToken,
  type SecretToken,
  SIGN_IN_SECONDS,
  secretTokenDigest,
} from '../credentials/credentials.js';
import { endSignIns } from '../credentials/end-sign-ins.js';
import { noticeTo } from '../mail/mail-job.js';
import type { QueueMail } from '../mail/mail-queue.js';
import { type SignedInUser, type User, UserRow } from '../users/user-directory.js';

/** A sign-in, and the refresh token that renews it. */
export interface StartedSignIn {
  readonly signInId: string;
  readonly refreshToken: string;
}

/**
 * Starts a sign-in, with an audit entry.
 *
 * It locks the user's row. A concurrent change that disables the user or changes the password
 * therefore either ends this sign-in or prevents it.
 * @param db a transaction in a role that may UPDATE (last_sign_in_at) `users`, and INSERT into
 *   `sign_ins` and `audit_log`
 * @param passwordHash the verified hash
 * @param queueMail queues the mail that tells the user, unless the user is a backend; null if no mail is sent
 * @returns null if the user was disabled or the password changed meanwhile
 */
export async function startSignIn(
  db: Queryable,
  user: User,
  passwordHash: string,
  queueMail: QueueMail | null,
): Promise<StartedSignIn | null> {
  const signInId = randomUUID();
  const { token, digest } = newSecretToken('refresh');
  const { rowCount } = await db.query(
    `with signing_in as (
       update users set last_sign_in_at = now() where id = $1 and password_hash = $2 and disabled_at is null returning id)
     insert into sign_ins (id, user_id, refresh_digest, expires_at, lapses_at)
       select $3, id, $4, now() + make_interval(secs => $5), now() + make_interval(secs => $6) from signing_in`,
    [user.id, passwordHash, signInId, digest, SIGN_IN_SECONDS, IDLE_SECONDS],
  );
  if (rowCount !== 1) return null;
  await appendAuditEntry(db, {
    tenantId: user.tenantId,
    actor: { kind: 'user', userId: user.id },
    action: 'sign_in.start',
    subject: { kind: 'sign_in', id: signInId },
    details: {},
  });
  if (user.role !== 'api_user') await queueMail?.(db, noticeTo(user.email, 'signed_in'));
  return { signInId, refreshToken: token };
}

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
  /** Address and user agent of the client: a repeated request from another client counts as reuse. */
  readonly client: string;
  /** Key from which the next token is derived, 32 bytes. */
  readonly refreshKey: Uint8Array;
}

/** How long a repeated request of the same client gets the same next token, in seconds. */
const REPEAT_SECONDS = 10;

const USER = `s.id as sign_in_id, ${sealed('users', 'u')} as "user"`;

/**
 * Exchanges a refresh token for the next one. Each token is valid once: a single UPDATE decides, so only one of several
 * concurrent uses succeeds. A reused token may be stolen, so its whole sign-in ends (RFC 9700 §4.14.2), with an entry
 * in the audit log.
 *
 * Two processes of one backend may renew at the same time, and a response may get lost. Therefore a repeated request
 * gets the same next token, if it comes from the same client within seconds and the next token has not been used. The
 * service does not store that token; it derives it again from the presented token and the client. The time limit runs
 * from the last renewal, which the row seal covers, so that nobody can prolong it by editing the database.
 * @param db a handle in the role `consent_ledger_api`
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

/**
 * Ends the sign-in of a request, or all sign-ins of its user, with an audit entry.
 * @param db a handle in the role `consent_ledger_api`
 * @returns the number of ended sign-ins; 0 if another request has already ended them
 */
export function signOut(db: Queryable, user: SignedInUser, everywhere: boolean): Promise<number> {
  return withTransaction(db, async (db) => {
    const choice = everywhere ? { all: true as const } : { only: user.signInId };
    const ended = await endSignIns(db, user.id, choice, 'signed_out');
    if (ended === 0) return ended;
    await appendAuditEntry(db, {
      tenantId: user.tenantId,
      actor: { kind: 'user', userId: user.id },
      action: 'sign_in.end',
      subject: { kind: 'sign_in', id: user.signInId },
      details: { reason: 'signed_out', ended_sign_ins: ended },
    });
    return ended;
  });
}

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
 * @param db a handle in the role `consent_ledger_worker`
 */
export async function pruneSignIns(db: Queryable): Promise<void> {
  await db.query(
    `delete from sign_up_requests where address_digest in (
       select address_digest from sign_up_requests where requested_at < now() - interval '1 day' order by requested_at limit 1000)`,
  );
  for (const statement of STATEMENTS) await db.query(statement);
}
