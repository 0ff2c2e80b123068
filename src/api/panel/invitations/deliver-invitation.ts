import * as z from 'zod';
import { ApiError } from '../../../../schemas/api/error-codes.js';
import { type QueueMail, tooManyMails } from '../../../accounts/mail/mail-queue.js';
import type { ListedInvitation } from '../../../accounts/sign-in/invitations.js';
import type { Queryable } from '../../../platform/database/pool.js';

/** Mailed invitations of a tenant in 24 hours: the service must not become a sender of bulk mail. */
const MAX_A_DAY = 100;
const RETRY_AFTER_SECONDS = 3_600;

export interface InvitationMail {
  readonly invitation: ListedInvitation;
  readonly token: string;
  /** Address of the inviting user. */
  readonly invitedBy: string;
}

const CountRows = z.tuple([z.object({ invitations: z.int() })]);

/**
 * Delivers the token of an invitation, in the transaction that created it.
 * @param queueMail null: the service sends no mail
 * @returns the token for the response; null if it is sent to the invited address
 * @throws ApiError RATE_LIMIT_EXCEEDED after 100 invitations of the tenant in 24 hours,
 *   SERVICE_UNAVAILABLE if too many invitations wait to be sent
 */
export async function deliverInvitation(
  db: Queryable,
  queueMail: QueueMail | null,
  { invitation, token, invitedBy }: InvitationMail,
): Promise<string | null> {
  if (queueMail === null) return token;
  const { tenantId, email, expiresAt } = invitation;
  const { rows } = await db.query(
    `select count(*)::int as invitations from invitations where tenant_id = $1 and created_at > now() - interval '24 hours'`,
    [tenantId],
  );
  if (CountRows.parse(rows)[0].invitations > MAX_A_DAY) {
    throw new ApiError('RATE_LIMIT_EXCEEDED', `The tenant invited ${MAX_A_DAY} people in 24 hours. Retry later.`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
  const letter = { token, to: email, invited_by: invitedBy, expires_at: expiresAt.toISOString() };
  if (!(await queueMail(db, { kind: 'invitation', ...letter }))) throw tooManyMails();
  return null;
}
