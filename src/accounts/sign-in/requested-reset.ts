import * as z from 'zod';
import { appendAuditEntry } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import { type RowSeals, sealed, sealedRow } from '../../platform/keys/index.js';
import type { QueueMail } from '../mail/mail-queue.js';
import { UserRow } from '../users/user-directory.js';
import { createPasswordReset } from './set-password.js';

/** No second token within this time: the address cannot be flooded with mails. */
const PAUSE_SECONDS = 15 * 60;

const UserRows = z.array(z.object({ user: sealedRow('users'), has_recent: z.boolean() }));

/**
 * Sends a token that sets a new password to the address of a user, who asked for it. Nothing happens
 * for an address without an enabled user, for an altered row, and within 15 minutes of the last
 * token.
 * @param db a transaction in the role `consent_ledger_admin`
 */
export async function mailRequestedReset(
  db: Queryable,
  seals: RowSeals,
  queueMail: QueueMail | null,
  email: string,
): Promise<void> {
  const { rows } = await db.query(
    `select ${sealed('users', 'u')} as "user",
            exists (select from password_resets r where r.user_id = u.id and r.created_at > now() - make_interval(secs => $2)) as has_recent
       from users u where u.email = $1 and u.disabled_at is null`,
    [email.toLowerCase(), PAUSE_SECONDS],
  );
  const [row] = UserRows.parse(rows);
  const user = row === undefined || row.has_recent ? null : await seals.open(row.user, UserRow);
  if (user === null) return;
  const { token, expiresAt } = await createPasswordReset(db, { id: user.id, disabledAt: null }, null);
  await queueMail?.(db, { kind: 'password_reset', to: user.email, token, expires_at: expiresAt.toISOString() });
  await appendAuditEntry(db, {
    tenantId: user.tenantId,
    actor: { kind: 'service' },
    action: 'user.create_password_reset',
    subject: { kind: 'user', id: user.id },
    details: { reason: 'requested_by_mail' },
  });
}
