import type pg from 'pg';
import { z } from 'zod';
import { UserRole } from '../../schemas/api/auth.js';
import { appendAuditEntry } from '../audit-log/append-entry.js';
import { CatalogueError } from '../catalogue/catalogue-error.js';
import type { SignedInUser } from '../catalogue/user-directory.js';
import { insertUser } from '../catalogue/users.js';
import { type Database, withTransaction } from '../database/pool.js';
import { hashPassword } from './passwords.js';
import { secretTokenDigest } from './secret-tokens.js';
import { type StartedSignIn, startSignIn } from './start-sign-in.js';

/** A user whom an invitation made, signed in. */
export interface AcceptedInvitation extends StartedSignIn {
  readonly user: SignedInUser;
}

const OpenRows = z.array(z.object({ id: z.string(), tenant_id: z.string(), email: z.string(), role: UserRole }));

const OPEN = `select id, tenant_id, email, role from invitations
  where token_digest = $1 and accepted_at is null and revoked_at is null and expires_at > now()`;

/**
 * Makes the user whom an invitation is for, and signs in. Of several at once with one token, one succeeds.
 * @param pool in the role `consent_ledger_admin`
 * @returns null if the token is unknown, expired, used or revoked; also if the address has a user by now, in whatever tenant: nobody is told which
 */
export async function acceptInvitation(
  pool: pg.Pool,
  token: string,
  password: string,
): Promise<AcceptedInvitation | null> {
  const digest = secretTokenDigest('invitation', token);
  if (digest === null || (await openInvitation(pool, digest, false)) === undefined) return null;
  const passwordHash = await hashPassword(password);
  try {
    return await withTransaction(pool, (client) => accept(client, digest, passwordHash));
  } catch (error) {
    if (error instanceof CatalogueError && error.code === 'already_exists') return null;
    throw error;
  }
}

async function accept(client: pg.PoolClient, digest: Buffer, passwordHash: string): Promise<AcceptedInvitation | null> {
  const invitation = await openInvitation(client, digest, true);
  if (invitation === undefined) return null;
  const { id, tenant_id: tenantId, email, role } = invitation;
  const user = { id: (await insertUser(client, { tenantId, email, role }, passwordHash)).id, tenantId, email, role };
  await client.query('update invitations set accepted_at = now(), user_id = $2 where id = $1', [id, user.id]);
  await appendAuditEntry(client, {
    tenantId,
    actor: { kind: 'user', userId: user.id },
    action: 'invitation.accept',
    subject: { kind: 'invitation', id },
    details: { user_id: user.id, role },
  });
  const started = await startSignIn(client, user, passwordHash);
  if (started === null) throw new Error('a user who was just made cannot sign in');
  return { ...started, user: { ...user, signInId: started.signInId } };
}

async function openInvitation(database: Database, digest: Buffer, isLocked: boolean) {
  const { rows } = await database.query(isLocked ? `${OPEN} for update` : OPEN, [digest]);
  return OpenRows.parse(rows)[0];
}
