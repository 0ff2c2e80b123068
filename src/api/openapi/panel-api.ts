import type { JsonObject } from '../../../schemas/json/json-value.js';
import { openApiDocument } from './document.js';
import { PANEL_API_OPERATIONS } from './operations.js';

/** The OpenAPI 3.1 document of the panel API and of sign-in. */
export function panelDescription(): JsonObject {
  return openApiDocument({
    title: 'Consent Ledger: panel API',
    description:
      'Administration of tenants, sites, documents, configurations, records, exports and users. Sign in at /api/v1/auth/login and send the access token as `Authorization: Bearer …`. Lists come in pages: pass `next_cursor` of one page as `cursor` to get the next. Every change is in the audit log. Times are ISO 8601 with an offset, with `T` and `Z` in upper case, in the years 1 to 9999; UUIDs are read in either case. A change must have at least one member. White space around names is removed, and the rest must not be empty. Texts must not contain U+0000. The category of a cookie must be in the draft. The URL of a webhook must have a public address. `category_granted` requires `category`.',
    operations: PANEL_API_OPERATIONS,
  });
}
