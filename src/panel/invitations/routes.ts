import { z } from 'zod';
import type { Invitation } from '../../../schemas/api/panel/invitations.js';
import {
  createInvitation,
  type ListedInvitation,
  listInvitations,
  readInvitation,
  revokeInvitation,
} from '../../sign-in/invitations.js';
import type { PanelDeps } from '../deps.js';
import { keyOfCursor, pageOfRows } from '../page.js';
import { changes, type PanelRoute, reads } from '../route.js';
import { permitGranting } from '../users/rules.js';
import {
  createInvitationOperation,
  listInvitationsOperation,
  readInvitationOperation,
  revokeInvitationOperation,
} from './operations.js';

const InvitationCursor = z.tuple([z.iso.datetime(), z.uuid()]);

export function invitationRoutes({ apiPool }: PanelDeps): readonly PanelRoute[] {
  return [
    reads(listInvitationsOperation, async ({ user, query }) => {
      const rows = await listInvitations(apiPool, {
        tenantId: user.tenantId,
        state: query.state,
        after: keyOfCursor(InvitationCursor, query),
        limit: query.limit + 1,
      });
      return pageOfRows(query, rows, ({ createdAt, id }) => [createdAt.toISOString(), id], shown);
    }),
    reads(readInvitationOperation, async ({ user, params }) => ({
      data: shown(await readInvitation(apiPool, user.tenantId, params.invitation_id)),
    })),
    changes(createInvitationOperation, async ({ user, body }, transaction) => {
      permitGranting(user, body.role);
      const { invitation, token } = await createInvitation(transaction, { tenantId: user.tenantId, ...body });
      return {
        response: { data: { ...shown(invitation), token } },
        subject: { kind: 'invitation', id: invitation.id },
        details: { role: invitation.role },
      };
    }),
    changes(revokeInvitationOperation, async ({ user, params }, transaction) => {
      const invitation = await revokeInvitation(transaction, user.tenantId, params.invitation_id);
      return { response: { data: shown(invitation) }, subject: { kind: 'invitation', id: invitation.id } };
    }),
  ];
}

function shown(invitation: ListedInvitation): z.infer<typeof Invitation> {
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
