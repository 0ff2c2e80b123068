import * as z from 'zod';
import { Instant, Uuid } from '../evidence/primitives.js';
import { TEST_MEMBER } from './test-mark.js';

/** GET /tool/v1/ping */
export const PingResponse = z
  .object({
    message: z.literal('pong').describe('Always `pong`.'),
    data: z
      .object({
        site_id: Uuid.describe('The site.'),
        scope: z
          .enum(['read', 'write', 'public'])
          .describe('Scope of the API key; `public` for a request without one.'),
        time: Instant.describe('Time of the service.'),
      })
      .describe('The result.'),
    ...TEST_MEMBER,
  })
  .meta({ id: 'PingResponse' });
export type PingResponse = z.infer<typeof PingResponse>;
