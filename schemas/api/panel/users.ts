import { z } from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { UserRole } from '../auth.js';
import { PageQuery, Timestamp } from './common.js';

/** A user of the tenant. */
export const PanelUser = z
  .object({
    id: Uuid,
    email: z.string(),
    role: UserRole,
    is_disabled: z.boolean(),
    has_second_factor: z.boolean(),
    created_at: Timestamp,
    last_sign_in_at: Timestamp.nullable().describe('When the user last signed in; null: never.'),
    disabled_at: Timestamp.nullable(),
  })
  .meta({ id: 'User' });

export const UsersQuery = PageQuery.extend({
  role: UserRole.optional(),
  state: z.enum(['active', 'disabled']).optional(),
});

export const UserParams = z.object({ user_id: Uuid });

export const ChangeUserRequest = z
  .strictObject({ role: UserRole.optional(), is_disabled: z.boolean().optional() })
  .refine(({ role, is_disabled }) => role !== undefined || is_disabled !== undefined, {
    message: 'must contain role, is_disabled or both',
  });

/** A token that sets a new password once. Only the response that creates it or the mail contains it. */
export const PasswordReset = z
  .object({
    user_id: Uuid,
    token: z.string().nullable().describe('Give it to the user; null: the service sends it to the user by mail.'),
    expires_at: Timestamp,
  })
  .meta({ id: 'PasswordReset' });

export const SignInsEnded = z.object({ ended_sign_ins: z.int() }).meta({ id: 'SignInsEnded' });
