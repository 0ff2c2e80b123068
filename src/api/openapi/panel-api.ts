import type { JsonObject } from '../../../schemas/json/json-value.js';
import { openApiDocument } from './document.js';
import { PANEL_API_OPERATIONS } from './operations.js';

/** The OpenAPI 3.1 document of the panel API and of sign-in. */
export function panelDescription(): JsonObject {
  return openApiDocument({
    title: 'Consent Ledger: panel API',
    description:
      'Administration of tenants, sites, documents, configurations, records, exports and users. Sign in at /api/v1/auth/login and send the access token as `Authorization: Bearer …`. Lists come in pages: pass `next_cursor` of one page as `cursor` to get the next. Every change is in the audit log.',
    operations: PANEL_API_OPERATIONS,
  });
}
