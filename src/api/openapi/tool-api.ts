import type { JsonObject } from '../../../schemas/json/json-value.js';
import { openApiDocument } from './document.js';
import { TOOL_API_OPERATIONS } from './operations.js';

/** The OpenAPI 3.1 document of the Tool API, public verification, the ledger and sign-in. */
export function toolApiDescription(): JsonObject {
  return openApiDocument({
    title: 'Consent Ledger: Tool API',
    description:
      'Records consents, returns the consents of a visitor that are in force, and proves that records are unchanged. Every POST below /tool/v1 is signed: X-Signature is the lower-case hex HMAC-SHA256, with the API key as key, of METHOD, PATH without query, TIMESTAMP, NONCE and the lower-case hex SHA-256 of the exact body, joined by single line feeds. The bearer token of an S2S operation belongs to an api_user of the tenant that owns the site.',
    operations: TOOL_API_OPERATIONS,
  });
}

/** The text of `docs/openapi/tool-api.json`, which the service also serves. */
export function toolApiText(): string {
  return `${JSON.stringify(toolApiDescription(), null, 2)}\n`;
}
