import type * as z from 'zod';
import type { Invitation } from '../../../../schemas/api/panel/invitations.js';
import type { ListedInvitation } from '../../../accounts/sign-in/invitations.js';

/** An invitation as answers show it. */
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
