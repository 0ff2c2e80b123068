import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { UserRole } from '../../../schemas/api/auth.js';
import { InvitationState } from '../../../schemas/api/panel/invitations.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { INVITATION_SECONDS, newSecretToken } from '../credentials/credentials.js';
import type { Role } from '../users/user-directory.js';
import { lockUsersOf } from '../users/users.js';

/** An invitation to a tenant, without its token. */
export interface ListedInvitation {
  readonly id: string;
  readonly tenantId: string;
  readonly email: string;
  readonly role: Role;
  readonly state: z.infer<typeof InvitationState>;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly acceptedAt: Date | null;
  readonly userId: string | null;
  readonly revokedAt: Date | null;
}

export interface NewInvitation extends Pick<ListedInvitation, 'tenantId' | 'email' | 'role'> {
  /**
   * The inviting user, who must still have the right when the invitation is accepted, or null for operators.
   */
  readonly invitedBy: string | null;
}

/** Selects invitations of a tenant. */
export interface InvitationFilter {
  readonly tenantId: string;
  readonly state?: ListedInvitation['state'] | undefined;
  /** `createdAt` and id of the last one on the previous page. */
  readonly after?: readonly [string, string] | null;
  readonly limit: number;
}

const STATE = `case when accepted_at is not null then 'accepted' when revoked_at is not null then 'revoked'
  when expires_at <= now() then 'expired' else 'open' end`;
const COLUMNS = `id, tenant_id, email, role, ${STATE} as state, created_at, expires_at,
  accepted_at, user_id, revoked_at`;

/** Truncated to milliseconds, the precision of the cursor. */
const CREATED = "date_trunc('milliseconds', created_at)";

const Rows = z.array(
  z
    .object({
      id: z.string(),
      tenant_id: z.string(),
      email: z.string(),
      role: UserRole,
      state: InvitationState,
      created_at: z.date(),
      expires_at: z.date(),
      accepted_at: z.date().nullable(),
      user_id: z.string().nullable(),
      revoked_at: z.date().nullable(),
    })
    .transform(
      (row): ListedInvitation => ({
        id: row.id,
        tenantId: row.tenant_id,
        email: row.email,
        role: row.role,
        state: row.state,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
        acceptedAt: row.accepted_at,
        userId: row.user_id,
        revokedAt: row.revoked_at,
      }),
    ),
);

/**
 * Creates an invitation, and revokes an open one for the same address. It does not check whether
 * the address has a user in another tenant, because the inviter must not learn that.
 * @param permit throws if the inviter may not revoke such an invitation
 * @returns the invitation and its token, which is not stored
 * @throws ChangeRefused `already_exists` if the tenant has such a user; errors of `permit`
 */
export function createInvitation(
  db: Queryable,
  { tenantId, email, role, invitedBy }: NewInvitation,
  permit: (replaced: { readonly role: Role }) => void = () => undefined,
): Promise<{ readonly invitation: ListedInvitation; readonly token: string }> {
  return withTransaction(db, async (db) => {
    const { rowCount } = await db.query('select from users where tenant_id = $1 and email = $2', [tenantId, email]);
    if (rowCount !== 0)
      throw new ChangeRefused('already_exists', 'The tenant already has a user with this e-mail address.');
    // Invitations for one address are created one after the other. Otherwise two simultaneous ones would both be open.
    await lockUsersOf(db, tenantId);
    const replaced = await db.query(
      `update invitations set revoked_at = now() where tenant_id = $1 and email = $2 and accepted_at is null and revoked_at is null
       returning ${COLUMNS}`,
      [tenantId, email],
    );
    for (const { role: former, expiresAt, revokedAt } of Rows.parse(replaced.rows)) {
      const wasOpen = revokedAt !== null && revokedAt < expiresAt;
      if (wasOpen) permit({ role: former });
    }
    const { token, digest } = newSecretToken('invitation');
    const { rows } = await db.query(
      `insert into invitations (id, tenant_id, email, role, invited_by, token_digest, expires_at)
       values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7)) returning ${COLUMNS}`,
      [randomUUID(), tenantId, email, role, invitedBy, digest, INVITATION_SECONDS],
    );
    return { invitation: onlyOne(rows), token };
  });
}

/** Lists a tenant's invitations, newest first. */
export async function listInvitations(
  db: Queryable,
  { tenantId, state, after, limit }: InvitationFilter,
): Promise<readonly ListedInvitation[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from invitations
      where tenant_id = $1 and ($2::text is null or ${STATE} = $2)
        and ($3::timestamptz is null or (${CREATED}, id) < ($3, $4::uuid))
      order by ${CREATED} desc, id desc limit $5`,
    [tenantId, state ?? null, after?.[0] ?? null, after?.[1] ?? null, limit],
  );
  return Rows.parse(rows);
}

/**
 * Reads an invitation. @throws ChangeRefused `not_found`, including for an invitation of another tenant
 */
export async function readInvitation(db: Queryable, tenantId: string, id: string): Promise<ListedInvitation> {
  const { rows } = await db.query(`select ${COLUMNS} from invitations where id = $1 and tenant_id = $2`, [
    id,
    tenantId,
  ]);
  return onlyOne(rows);
}

/**
 * Revokes an invitation; a revoked one remains unchanged.
 * @throws ChangeRefused `not_found`, `wrong_state` if it was accepted
 */
export function revokeInvitation(db: Queryable, tenantId: string, id: string): Promise<ListedInvitation> {
  return withTransaction(db, async (db) => {
    await lockUsersOf(db, tenantId);
    await db.query(
      'update invitations set revoked_at = now() where id = $1 and tenant_id = $2 and accepted_at is null and revoked_at is null',
      [id, tenantId],
    );
    const invitation = await readInvitation(db, tenantId, id);
    if (invitation.state === 'accepted') {
      throw new ChangeRefused('wrong_state', 'The invitation was already accepted. Disable the user instead.');
    }
    return invitation;
  });
}

function onlyOne(rows: readonly unknown[]): ListedInvitation {
  const [invitation] = Rows.parse(rows);
  if (invitation === undefined) throw new ChangeRefused('not_found', 'There is no such invitation.');
  return invitation;
}
