import { appendAuditEntry } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import { endSignIns } from '../credentials/end-sign-ins.js';
import type { SignedInUser } from '../users/user-directory.js';

/**
 * Ends the sign-in of a request, or all sign-ins of its user, with an audit entry.
 * @param db in the role `consent_ledger_api`
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
