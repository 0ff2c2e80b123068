import * as z from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { UserRole } from '../auth.js';
import { InputUuid } from '../common.js';
import { PageQuery, Timestamp } from './common.js';

/** A user of the tenant. */
export const PanelUser = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    email: z.string().describe('E-mail address of the user.'),
    role: UserRole.describe('What the user may do.'),
    is_disabled: z.boolean().describe('Whether the user cannot sign in.'),
    has_second_factor: z.boolean().describe('Whether a sign-in with the password requires a second factor.'),
    created_at: Timestamp.describe('When it was created.'),
    last_sign_in_at: Timestamp.nullable().describe('When the user last signed in, or null for never.'),
    disabled_at: Timestamp.nullable().describe('When the user was disabled, or null if the user is enabled.'),
  })
  .meta({ id: 'User' });

export const UsersQuery = PageQuery.extend({
  role: UserRole.optional().describe('Only users with this role.'),
  state: z
    .enum(['active', 'disabled'])
    .optional()
    .describe('If true, only active users; if false, only disabled ones.'),
});

export const UserParams = z.object({ user_id: InputUuid.describe('The user.') });

export const ChangeUserRequest = z
  .strictObject({
    role: UserRole.optional().describe('What the user may do.'),
    is_disabled: z.boolean().optional().describe('Whether the user cannot sign in.'),
  })
  .refine(({ role, is_disabled }) => role !== undefined || is_disabled !== undefined, {
    error: 'must contain role, is_disabled or both',
  });

/** A token that sets a new password once. Only the response that creates it or the mail contains it. */
export const PasswordReset = z
  .object({
    user_id: Uuid.describe('The user.'),
    token: z.string().nullable().describe('Give it to the user. It is null if the service sends it by mail.'),
    expires_at: Timestamp.describe('Until when the token is valid.'),
  })
  .meta({ id: 'PasswordReset' });

export const SignInsEnded = z
  .object({ ended_sign_ins: z.int().describe('Number of sign-ins that ended.') })
  .meta({ id: 'SignInsEnded' });
