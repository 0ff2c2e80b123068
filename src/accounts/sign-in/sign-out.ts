import { appendAuditEntry } from '../../platform/audit-log/append-entry.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import { endSignIns } from '../credentials/end-sign-ins.js';
import type { SignedInUser } from '../users/user-directory.js';

/**
 * Ends the sign-in that a request was made with, or all of its user's; says so in the audit log.
 * @param db in the role `consent_ledger_api`
 * @returns how many ended: 0 if another request was faster
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
