import * as z from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { InputUuid } from '../common.js';
import { PageQuery, Timestamp } from './common.js';

/** An active sign-in. Neither address nor device is stored. */
export const SignIn = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    is_current: z.boolean().describe('Whether it is the sign-in of this request.'),
    started_at: Timestamp.describe('When the user signed in.'),
    renewed_at: Timestamp.describe('When the sign-in was last renewed.'),
    lapses_at: Timestamp.describe('When the sign-in ends unless it is renewed before.'),
    expires_at: Timestamp.describe('When the sign-in ends, however often it is renewed.'),
  })
  .meta({ id: 'SignIn' });

export const SignInsQuery = PageQuery;

export const SignInParams = z.object({ sign_in_id: InputUuid.describe('The sign-in.') });
