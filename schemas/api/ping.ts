import { z } from 'zod';
import { Instant, Uuid } from '../evidence/primitives.js';

/** GET /tool/v1/ping */
export const PingResponse = z
  .object({
    message: z.literal('pong'),
    data: z.object({
      site_id: Uuid,
      scope: z.enum(['read', 'write', 'public']).describe('Scope of the API key; `public` for a request without one.'),
      time: Instant,
    }),
  })
  .meta({ id: 'PingResponse' });
export type PingResponse = z.infer<typeof PingResponse>;
