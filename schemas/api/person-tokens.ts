import * as z from 'zod';
import { CONSENT_LIMITS } from './consent-limits.js';
import { TEST_MEMBER } from './test-mark.js';

export const PersonTokenRequest = z
  .object({
    person: z
      .string()
      .min(1)
      .max(CONSENT_LIMITS.visitorId)
      .describe('`visitor_id` of the person whom your backend knows, as after a sign-in.'),
  })
  .meta({ id: 'PersonTokenRequest' });
export type PersonTokenRequest = z.infer<typeof PersonTokenRequest>;

export const PersonTokenResponse = z
  .object({
    message: z.string().describe('What was done, in words.'),
    data: z
      .object({
        person_token: z
          .string()
          .regex(/^hpt_(?:test_)?[A-Za-z0-9_-]{43}$/)
          .describe('The token. The service returns it only in this response.'),
        person_token_id: z
          .string()
          .regex(/^ptk_[A-Za-z0-9_-]{1,60}$/)
          .describe('Identifier of the token in records, as `approval_token_id`.'),
        expires_in: z.int().describe('Seconds until the token expires.'),
        expires_at: z.iso.datetime().describe('Until when the token is valid.'),
      })
      .describe('The result.'),
    ...TEST_MEMBER,
  })
  .meta({ id: 'PersonTokenResponse' });
export type PersonTokenResponse = z.infer<typeof PersonTokenResponse>;
