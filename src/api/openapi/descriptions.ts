import type { JsonObject } from '../../../schemas/json/json-value.js';
import { PASSKEY_OPERATIONS } from '../auth/passkeys.js';
import { SECOND_FACTOR_OPERATIONS } from '../auth/second-factor.js';
import { AUTH_OPERATIONS } from '../auth/sign-in.js';
import { SIGN_UP_OPERATIONS } from '../auth/sign-up.js';
import { CHECKPOINT_OPERATIONS } from '../checkpoints/checkpoints.js';
import { STRUCTURE_OPERATIONS } from '../checkpoints/structure.js';
import { PANEL_OPERATIONS } from '../panel/operations.js';
import { PUBLIC_OPERATIONS } from '../public/public-verify.js';
import type { Operation } from '../server/operation.js';
import { TOOL_OPERATIONS } from '../tool/operations.js';
import { openApiDocument } from './document.js';

/**
 * Operations of the Tool API's OpenAPI document. They include public verification, the ledger and
 * sign-in, because backends use them.
 */
export const TOOL_API_OPERATIONS: readonly Operation[] = [
  ...TOOL_OPERATIONS,
  ...PUBLIC_OPERATIONS,
  ...CHECKPOINT_OPERATIONS,
  ...STRUCTURE_OPERATIONS,
  ...AUTH_OPERATIONS,
];

/** Operations of the panel API's OpenAPI document. */
export const PANEL_API_OPERATIONS: readonly Operation[] = [
  ...AUTH_OPERATIONS,
  ...SECOND_FACTOR_OPERATIONS,
  ...PASSKEY_OPERATIONS,
  ...SIGN_UP_OPERATIONS,
  ...PANEL_OPERATIONS,
];

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

/** The OpenAPI 3.1 document of the panel API and of sign-in. */
export function panelDescription(): JsonObject {
  return openApiDocument({
    title: 'Consent Ledger: panel API',
    description:
      'Administration of tenants, sites, documents, configurations, records, exports and users. Sign in at /api/v1/auth/login and send the access token as `Authorization: Bearer …`. Lists come in pages: pass `next_cursor` of one page as `cursor` to get the next. Every change is in the audit log. Times are ISO 8601 with an offset, with `T` and `Z` in upper case, in the years 1 to 9999; UUIDs are read in either case. A change must have at least one member. White space around names is removed, and the rest must not be empty. Texts must not contain U+0000. The category of a cookie must be in the draft. The URL of a webhook must have a public address. `category_granted` requires `category`.',
    operations: PANEL_API_OPERATIONS,
  });
}
