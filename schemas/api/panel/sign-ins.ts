import { z } from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { PageQuery, Timestamp } from './common.js';

/** A sign-in that lasts. No address and no device is kept. */
export const SignIn = z.object({
  id: Uuid,
  /** Whether this request was made with it. */
  is_current: z.boolean(),
  started_at: Timestamp,
  renewed_at: Timestamp,
  /** When it ends, if it is not renewed before. */
  lapses_at: Timestamp,
  /** When it ends however often it is renewed. */
  expires_at: Timestamp,
});

export const SignInsQuery = PageQuery;

export const SignInParams = z.object({ sign_in_id: Uuid });
