import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { dataOf, pageOf } from '../../../schemas/api/panel/common.js';
import {
  CreatedInvitation,
  CreateInvitationRequest,
  Invitation,
  InvitationParams,
  InvitationsQuery,
} from '../../../schemas/api/panel/invitations.js';
import { causedBy, type QueueMail, tooManyMails } from '../../accounts/mail/mail-queue.js';
import {
  createInvitation,
  type ListedInvitation,
  listInvitations,
  readInvitation,
  revokeInvitation,
} from '../../accounts/sign-in/invitations.js';
import type { Queryable } from '../../platform/database/pool.js';
import { EDITORS, OVERSEERS, tokenMail } from './caller.js';
import { route } from './deps.js';
import { keyOfCursor, pageOfRows, TimeAndId } from './page.js';
import { permitGranting, permitManaging } from './users.js';

const shared = { auth: 'panel', tag: 'Invitations' } as const;
const one = { ...shared, params: InvitationParams, errors: ['RESOURCE_NOT_FOUND'] } as const;

/**
 * Invitations to the user's tenant, for roles that the user may assign. Only the response that
 * creates an invitation contains its token.
 */
export const INVITATION_OPERATIONS = [
  route({
    ...shared,
    id: 'listInvitations',
    path: '/api/v1/invitations',
    summary: 'List the invitations of the tenant, newest first',
    roles: OVERSEERS,
    query: InvitationsQuery,
    response: pageOf(Invitation),
    handle: async ({ user, query }, { apiPool }) => {
      const rows = await listInvitations(apiPool, {
        tenantId: user.tenantId,
        state: query.state,
        after: keyOfCursor(TimeAndId, query),
        limit: query.limit + 1,
      });
      return pageOfRows(query, rows, ({ createdAt, id }) => [createdAt.toISOString(), id], shownInvitation);
    },
  }),
  route({
    ...one,
    id: 'readInvitation',
    path: '/api/v1/invitations/{invitation_id}',
    summary: 'Get an invitation',
    roles: OVERSEERS,
    response: dataOf(Invitation),
    handle: async ({ user, params }, { apiPool }) => ({
      data: shownInvitation(await readInvitation(apiPool, user.tenantId, params.invitation_id)),
    }),
  }),
  route({
    ...shared,
    id: 'createInvitation',
    method: 'post',
    path: '/api/v1/invitations',
    summary: 'Invite a person to become a user of the tenant',
    description:
      'A service that sends mail delivers the token, at most 100 a day for a tenant, and `token` is null. Otherwise only this response contains it. The invited person sends it to /api/v1/auth/accept-invitation within 7 days. An open invitation of the same address is revoked. The invitation becomes invalid when the inviting user may no longer assign the role. Only an owner can invite owners, DPOs and API users.',
    roles: EDITORS,
    body: CreateInvitationRequest,
    example: { body: { email: 'colleague@shop.example', role: 'viewer' } },
    status: 201,
    response: dataOf(CreatedInvitation),
    errors: ['ALREADY_EXISTS'],
    action: 'invitation.create',
    change: async ({ user, body, mailCause }, db, { queueMail }) => {
      permitGranting(user, body.role);
      const wanted = { tenantId: user.tenantId, ...body, invitedBy: user.id };
      const { invitation, token } = await createInvitation(db, wanted, (replaced) => permitManaging(user, replaced));
      const shownToken = await deliverInvitation(db, causedBy(tokenMail(user, queueMail), mailCause), {
        invitation,
        token,
        invitedBy: user.email,
      });
      return {
        response: { data: { ...shownInvitation(invitation), token: shownToken } },
        subject: { kind: 'invitation', id: invitation.id },
        details: { role: invitation.role },
      };
    },
  }),
  route({
    ...one,
    id: 'revokeInvitation',
    method: 'delete',
    path: '/api/v1/invitations/{invitation_id}',
    summary: 'Revoke an invitation that was not accepted',
    description: 'Only an owner can revoke invitations of owners, DPOs and API users.',
    roles: EDITORS,
    response: dataOf(Invitation),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'invitation.revoke',
    change: async ({ user, params }, db) => {
      permitManaging(user, await readInvitation(db, user.tenantId, params.invitation_id));
      const invitation = await revokeInvitation(db, user.tenantId, params.invitation_id);
      return { response: { data: shownInvitation(invitation) }, subject: { kind: 'invitation', id: invitation.id } };
    },
  }),
];

/** Invitations that a tenant may mail in 24 hours. The service must not become a sender of bulk mail. */
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
 * @param queueMail queues a mail; null if the service sends no mail
 * @returns the token for the response, or null if it is sent to the invited address
 * @throws ApiError RATE_LIMIT_EXCEEDED after 100 invitations of the tenant in 24 hours, SERVICE_UNAVAILABLE if too many
 *   invitations are queued
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

/** Returns an invitation as responses show it. */
export function shownInvitation(invitation: ListedInvitation): z.infer<typeof Invitation> {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    state: invitation.state,
    created_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt.toISOString(),
    accepted_at: invitation.acceptedAt?.toISOString() ?? null,
    user_id: invitation.userId,
    revoked_at: invitation.revokedAt?.toISOString() ?? null,
  };
}
