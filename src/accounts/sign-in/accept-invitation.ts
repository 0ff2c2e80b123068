import * as z from 'zod';
import { UserRole } from '../../../schemas/api/auth.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { type RowSeals, sealed, sealedRow } from '../../platform/keys/index.js';
import { hashPassword, refuseOwnAddress, secretTokenDigest } from '../credentials/credentials.js';
import type { SignedInUser } from '../users/user-directory.js';
import { insertUser, isGrantInForce, lockUsersOf } from '../users/users.js';
import { type StartedSignIn, startSignIn } from './sign-ins.js';

/** A user created by an invitation, signed in. */
export interface AcceptedInvitation extends StartedSignIn {
  readonly user: SignedInUser;
}

const OpenRows = z.array(z.object({ invitation: sealedRow('invitations'), inviter: sealedRow('users').nullable() }));
const OpenInvitation = z.object({
  id: z.string(),
  tenant_id: z.string(),
  email: z.string(),
  role: UserRole,
  invited_by: z.string().nullable(),
});
type OpenInvitation = z.infer<typeof OpenInvitation>;

const OPEN = `select ${sealed('invitations', 'i')} as invitation, ${sealed('users', 'u')} as inviter
  from invitations i left join users u on u.id = i.invited_by and u.disabled_at is null
  where i.token_digest = $1 and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()`;

/**
 * Creates the invited user and signs them in. Of several concurrent requests with one token, one succeeds. The token
 * must be valid, and the inviter must still be entitled to grant the role. The address must not have a user in any
 * tenant.
 * @param db a handle in the role `consent_ledger_admin`
 * @returns null if one of these conditions fails; the caller does not learn which
 * @throws RequestRefused VALIDATION_ERROR if the password is the user's address
 */
export async function acceptInvitation(
  db: Queryable,
  seals: RowSeals,
  token: string,
  password: string,
): Promise<AcceptedInvitation | null> {
  const digest = secretTokenDigest('invitation', token);
  const found = digest === null ? null : await openInvitation(db, seals, digest);
  if (digest === null || found === null) return null;
  refuseOwnAddress(password, found.email, 'password');
  const passwordHash = await hashPassword(password);
  try {
    return await withTransaction(db, (db) => accept(db, seals, found.tenant_id, digest, passwordHash));
  } catch (error) {
    if (error instanceof ChangeRefused && error.code === 'already_exists') return null;
    throw error;
  }
}

async function accept(
  db: Queryable,
  seals: RowSeals,
  tenantId: string,
  digest: Buffer,
  passwordHash: string,
): Promise<AcceptedInvitation | null> {
  await lockUsersOf(db, tenantId);
  const invitation = await openInvitation(db, seals, digest);
  if (invitation === null) return null;
  const { id, email, role } = invitation;
  const user = { id: (await insertUser(db, { tenantId, email, role }, passwordHash)).id, tenantId, email, role };
  await db.query('update invitations set accepted_at = now(), user_id = $2 where id = $1', [id, user.id]);
  await appendAuditEntry(db, {
    tenantId,
    actor: { kind: 'user', userId: user.id },
    action: 'invitation.accept',
    subject: { kind: 'invitation', id },
    details: { user_id: user.id, role },
  });
  const started = await startSignIn(db, user, passwordHash, null);
  if (started === null) throw new Error('a user who was just made cannot sign in');
  return { ...started, user: { ...user, signInId: started.signInId } };
}

/** Reads an open invitation. One whose own row or whose inviter's row was altered counts as not open. */
async function openInvitation(db: Queryable, seals: RowSeals, digest: Buffer): Promise<OpenInvitation | null> {
  const { rows } = await db.query(OPEN, [digest]);
  const [row] = OpenRows.parse(rows);
  const found = row === undefined ? null : await seals.open(row.invitation, OpenInvitation);
  if (row === undefined || found === null) return null;
  return (await isGrantInForce(seals, found.invited_by, row.inviter, found.role)) ? found : null;
}
