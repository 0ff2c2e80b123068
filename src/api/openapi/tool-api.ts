import type { JsonObject } from '../../../schemas/json/json-value.js';
import { openApiDocument } from './document.js';
import { TOOL_API_OPERATIONS } from './operations.js';

const DESCRIPTION = [
  'Records consents, returns the consents of a visitor that are in force, and proves that records are unchanged. Every POST below /tool/v1 is signed (security scheme `signature`). The bearer token of an S2S operation belongs to an api_user of the tenant that owns the site.',
  '**Retries.** Retry after no response and after 408, 425, 429 and 5xx, at most at the time of `Retry-After`, and with growing pauses. Send the same body with the same `idempotency_key`, under a new timestamp, nonce and signature. Do not retry other responses: they stay the same.',
  '**Idempotency.** Choose one `idempotency_key` for each action of a person. The service remembers it for 24 hours, for each site, and apart for browsers (`/tool/v1/consents`) and backends (`/tool/v1/s2s/consents`). A repeat returns the original response with `duplicate: true`, and records and counts nothing.',
  '**Times** are ISO 8601 with an offset, with `T` and `Z` in upper case, in the years 1 to 9999. **UUIDs** are read in either case. **Base64** is canonical and has padding.',
  '**User-Agent.** Send one that names your program and its version, so that the operator can reach you.',
].join('\n\n');

/** The OpenAPI 3.1 document of the Tool API, public verification, the ledger and sign-in. */
export function toolApiDescription(): JsonObject {
  return openApiDocument({
    title: 'Consent Ledger: Tool API',
    description: DESCRIPTION,
    operations: TOOL_API_OPERATIONS,
  });
}

/** The text that the service serves as `/openapi/tool-api.json`. */
export function toolApiText(): string {
  return `${JSON.stringify(toolApiDescription(), null, 2)}\n`;
}
