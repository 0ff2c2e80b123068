import { causedBy } from '../../../accounts/mail/mail-queue.js';
import {
  createInvitation,
  listInvitations,
  readInvitation,
  revokeInvitation,
} from '../../../accounts/sign-in/invitations.js';
import { tokenMail } from '../caller.js';
import type { PanelRoutesOptions } from '../deps.js';
import { keyOfCursor, pageOfRows, TimeAndId } from '../page.js';
import { changes, type PanelRoute, reads } from '../route.js';
import { permitGranting, permitManaging } from '../users/rules.js';
import { deliverInvitation } from './deliver-invitation.js';
import {
  createInvitationOperation,
  listInvitationsOperation,
  readInvitationOperation,
  revokeInvitationOperation,
} from './operations.js';
import { shownInvitation } from './show-invitation.js';

/**
 * Invitations to the user's tenant, for roles that the user may assign. Only the response that
 * creates an invitation contains its token.
 */
export function invitationRoutes({ apiPool, queueMail }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(listInvitationsOperation, async ({ user, query }) => {
      const rows = await listInvitations(apiPool, {
        tenantId: user.tenantId,
        state: query.state,
        after: keyOfCursor(TimeAndId, query),
        limit: query.limit + 1,
      });
      return pageOfRows(query, rows, ({ createdAt, id }) => [createdAt.toISOString(), id], shownInvitation);
    }),
    reads(readInvitationOperation, async ({ user, params }) => ({
      data: shownInvitation(await readInvitation(apiPool, user.tenantId, params.invitation_id)),
    })),
    changes(createInvitationOperation, async ({ user, body, mailCause }, db) => {
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
    }),
    changes(revokeInvitationOperation, async ({ user, params }, db) => {
      permitManaging(user, await readInvitation(db, user.tenantId, params.invitation_id));
      const invitation = await revokeInvitation(db, user.tenantId, params.invitation_id);
      return { response: { data: shownInvitation(invitation) }, subject: { kind: 'invitation', id: invitation.id } };
    }),
  ];
}
