import type pg from 'pg';
import { hashPassword } from '../accounts/credentials/credentials.js';
import { startSignIn } from '../accounts/sign-in/sign-ins.js';
import type { WantedAccount } from '../accounts/sign-up/request-sign-up.js';
import { insertUser } from '../accounts/users/users.js';
import type { CreateAccount } from '../api/auth/auth-deps.js';
import { appendAuditEntry } from '../platform/audit-log.js';
import { type Queryable, withTransaction } from '../platform/database/pool.js';
import { ChangeRefused } from '../platform/errors.js';
import { createTenant, PLANS } from '../tenancy/tenants/tenants.js';

/**
 * Creates the tenant and the owner of a sign-up, with the standard plan, and signs the owner in.
 * @param adminPool in the role `consent_ledger_admin`
 */
export function accountCreator(adminPool: pg.Pool): CreateAccount {
  return async (wanted, password) => {
    const passwordHash = await hashPassword(password);
    try {
      return await withTransaction(adminPool, (db) => create(db, wanted, passwordHash));
    } catch (error) {
      if (error instanceof ChangeRefused && error.code === 'already_exists') return null;
      throw error;
    }
  };
}

async function create(db: Queryable, { organisation, email }: WantedAccount, passwordHash: string) {
  const { id: tenantId } = await createTenant(db, organisation, PLANS.standard);
  const role = 'owner' as const;
  const { id } = await insertUser(db, { tenantId, email, role }, passwordHash);
  const user = { id, tenantId, email, role };
  await appendAuditEntry(db, {
    tenantId,
    actor: { kind: 'user', userId: id },
    action: 'tenant.sign_up',
    subject: { kind: 'tenant', id: tenantId },
    details: { plan: PLANS.standard.name },
  });
  const started = await startSignIn(db, user, passwordHash, null);
  if (started === null) throw new Error('a user who was just made cannot sign in');
  return { user: { ...user, signInId: started.signInId }, refreshToken: started.refreshToken };
}
