import type { JsonObject } from '../../../schemas/json/json-value.js';

/** How callers prove who they are. */
export const SECURITY_SCHEMES = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The site’s API key (svc_live_…).' },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'From /api/v1/auth/login.' },
} satisfies JsonObject;

const integerHeader = (description: string): JsonObject => ({ description, schema: { type: 'integer', minimum: 0 } });

/** Headers of answers that the descriptions refer to. */
export const DESCRIBED_HEADERS = {
  'Retry-After': integerHeader('Seconds to wait before the request is sent again.'),
  'X-RateLimit-Limit': integerHeader('Requests a minute that the plan allows; in the panel, of one user.'),
  'X-RateLimit-Remaining': integerHeader('What is left of them in this minute.'),
} satisfies JsonObject;
