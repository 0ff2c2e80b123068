import { z } from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { UserRole } from '../auth.js';
import { PageQuery, Timestamp } from './common.js';

export const InvitationState = z.enum(['open', 'accepted', 'revoked', 'expired']);

/** An invitation to become a user of the tenant. */
export const Invitation = z
  .object({
    id: Uuid,
    email: z.string(),
    role: UserRole,
    state: InvitationState,
    created_at: Timestamp,
    expires_at: Timestamp,
    accepted_at: Timestamp.nullable(),
    user_id: Uuid.nullable().describe('The user who accepted it; null unless it was accepted.'),
    revoked_at: Timestamp.nullable(),
  })
  .meta({ id: 'Invitation' });

/** With the token, which only this response or the mail contains. */
export const CreatedInvitation = Invitation.extend({
  token: z
    .string()
    .nullable()
    .describe('The inviting user delivers it; null: the service sends it to the address by mail.'),
}).meta({ id: 'CreatedInvitation' });

export const CreateInvitationRequest = z.strictObject({
  email: z.email().max(320).toLowerCase(),
  role: UserRole,
});

export const InvitationsQuery = PageQuery.extend({ state: InvitationState.optional() });

export const InvitationParams = z.object({ invitation_id: Uuid });
