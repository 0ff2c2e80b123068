import type { JsonObject } from '../../../schemas/json/json-value.js';
import { COMPONENTS } from './components.js';
import { describeDownload, describeOperation } from './describe-operation.js';
import { componentSchemas } from './json-schemas.js';
import { DOWNLOADS, OPERATIONS } from './operations.js';
import { DESCRIBED_HEADERS, SECURITY_SCHEMES } from './shared-parts.js';

const header = (name: string, description: string, pattern: string): JsonObject => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', pattern },
});

/** The OpenAPI 3.1 description of the Tool API, public verify and sign-in: made from the schemas that requests are checked with. */
export function toolApiDescription(): JsonObject {
  const paths: { [path: string]: JsonObject } = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describeOperation(operation) };
  }
  for (const download of DOWNLOADS) {
    paths[download.path] = { ...paths[download.path], [download.method]: describeDownload(download) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Consent Ledger: Tool API',
      version: '1',
      description:
        'Records consents, answers who has consented to what, and proves that records are unchanged. Every POST below /tool/v1 is signed: X-Signature is the lower-case hex HMAC-SHA256, with the API key as key, of METHOD, PATH without query, TIMESTAMP, NONCE and the lower-case hex SHA-256 of the exact body, joined by single line feeds.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: componentSchemas(COMPONENTS),
      securitySchemes: {
        ...SECURITY_SCHEMES,
        bearer: {
          ...SECURITY_SCHEMES.bearer,
          description: 'Of an api_user of the tenant that owns the site; from /api/v1/auth/login.',
        },
      },
      parameters: {
        Signature: header('X-Signature', 'Lower-case hex HMAC-SHA256 of the request.', '^[0-9a-f]{64}$'),
        Timestamp: header('X-Timestamp', 'Unix time in seconds, within 300 of the server’s.', '^\\d{1,12}$'),
        Nonce: header('X-Nonce', 'Usable once per site; a UUID will do.', '^[A-Za-z0-9._:-]{8,128}$'),
      },
      headers: DESCRIBED_HEADERS,
    },
  };
}

/** The description as the text of `docs/openapi/tool-api.json`, which is what the service serves. */
export function toolApiText(): string {
  return `${JSON.stringify(toolApiDescription(), null, 2)}\n`;
}
