import * as z from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { UserRole } from '../auth.js';
import { InputUuid } from '../common.js';
import { PageQuery, Timestamp } from './common.js';

export const InvitationState = z.enum(['open', 'accepted', 'revoked', 'expired']);

/** An invitation to become a user of the tenant. */
export const Invitation = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    email: z.string().describe('E-mail address of the user.'),
    role: UserRole.describe('What the user may do.'),
    state: InvitationState.describe('Where it stands.'),
    created_at: Timestamp.describe('When it was created.'),
    expires_at: Timestamp.describe('Until when the token is valid.'),
    accepted_at: Timestamp.nullable().describe('When the invitation was accepted, or null if it was not.'),
    user_id: Uuid.nullable().describe('The user who accepted it, or null if nobody did.'),
    revoked_at: Timestamp.nullable().describe('When it was revoked, or null if it was not.'),
  })
  .meta({ id: 'Invitation' });

/** An invitation with its token, which only this response or the mail contains. */
export const CreatedInvitation = Invitation.extend({
  token: z.string().nullable().describe('The inviting user delivers it. It is null if the service sends it by mail.'),
}).meta({ id: 'CreatedInvitation' });

export const CreateInvitationRequest = z.strictObject({
  email: z.email().max(320).toLowerCase().describe('E-mail address of the user.'),
  role: UserRole.describe('What the user may do.'),
});

export const InvitationsQuery = PageQuery.extend({
  state: InvitationState.optional().describe('Only invitations in this state.'),
});

export const InvitationParams = z.object({ invitation_id: InputUuid.describe('The invitation.') });
