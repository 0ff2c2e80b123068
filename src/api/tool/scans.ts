import { ApiError } from '../../../schemas/api/error-codes.js';
import { ScanRequest, ScanResponse } from '../../../schemas/api/scans.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import type { ScanPage } from '../../tenancy/scans/scan-site.js';
import { type RateLimiter, refuseExcess } from '../guards/rate-limiter.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';
import { routesWith } from '../server/route.js';

/** Scans of one tenant per minute. */
const SCANS_PER_MINUTE = 6;

export interface ScanDeps {
  readonly admission: Pick<Admission, 'useNonce'>;
  readonly rateLimiter: RateLimiter;
  readonly scan: ScanPage;
}

/**
 * Counts a scan of a tenant, whichever way it was requested.
 * @throws ApiError SCAN_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE
 */
export async function takeScan(rateLimiter: RateLimiter, tenantId: string): Promise<void> {
  refuseExcess(await rateLimiter.take('scan', tenantId, SCANS_PER_MINUTE), 'SCAN_LIMIT_EXCEEDED');
}

const route = routesWith<ScanDeps>();

const SHOWN_VISIT: JsonObject = {
  final_url: EXAMPLE_VALUES.pageUrl,
  status: 200,
  is_complete: true,
  cookies: [
    {
      name: '_visits',
      domain: 'shop.example',
      path: '/',
      party: 'first',
      duration_seconds: 31_536_000,
      http_only: false,
      secure: true,
      category: 'analytics',
    },
  ],
  storage: [],
  third_party_hosts: ['cdn.example'],
};

/**
 * Scans pages of the tenant's verified domains. The response has the result, because a scan takes less than a minute.
 * It is kept, as an event in the log, only if the request asks for a record.
 */
export const SCAN_OPERATIONS = [
  route({
    auth: 'signed',
    roles: null,
    id: 'scanPage',
    method: 'post',
    path: '/tool/v1/scans',
    tag: 'Site',
    summary: 'Scan a page for cookies and storage that are not declared, or set without permission',
    description:
      'The service visits the page before any choice, and again as a visitor who has refused every optional category. With `signal`, both visits send Global Privacy Control. A scan records nothing about a person: it answers the page in place of the service. The response comes within a minute. A publishable key is refused, and a tenant has six scans a minute. With `record`, the result becomes an event `SiteScanned.v1` of the site, which evidence packages enclose; a site has 20 of them in 24 hours. A repeated request is another scan, and another event.',
    body: ScanRequest,
    response: ScanResponse,
    errors: [
      'TEST_KEY_REFUSED',
      'SCAN_URL_REFUSED',
      'WRONG_STATE',
      'SCAN_FAILED',
      'SCAN_LIMIT_EXCEEDED',
      'SCAN_RECORDS_EXCEEDED',
      'SCANNER_BUSY',
      'ADMISSION_UNAVAILABLE',
    ],
    example: {
      body: { url: EXAMPLE_VALUES.pageUrl, record: true, signal: false },
      response: {
        data: {
          id: 'f2c7a6de-51a4-4e6f-9d3c-0c8b5f6f7a10',
          event_id: '0199f3a1-7c2e-7d64-8a51-3f0e9b6c2d11',
          site_id: SHOWN.siteId,
          url: EXAMPLE_VALUES.pageUrl,
          method: 'browser',
          signal: false,
          started_at: SHOWN.createdAt,
          ended_at: SHOWN.createdAt,
          site_config_hash: SHOWN.sha256,
          visits: [
            { choice: 'none', ...SHOWN_VISIT },
            { choice: 'refused', ...SHOWN_VISIT, cookies: [] },
          ],
          findings: [
            {
              problem: 'before_choice',
              kind: 'cookie',
              name: '_visits',
              domain: 'shop.example',
              category: 'analytics',
            },
          ],
        },
      },
    },
    handle: async ({ caller, signed, body, closing }, { admission, rateLimiter, scan }) => {
      await admission.useNonce(signed);
      // Visitors can copy such a key, and must not be able to start scans.
      if (caller.apiKey.restriction === 'publishable')
        throw new ApiError('INSUFFICIENT_SCOPE', 'Scans accept no publishable API key. Use a secret one.');
      const request = body();
      await takeScan(rateLimiter, caller.site.tenantId);
      return ScanResponse.parse({ data: await scan(caller.site, request, closing) });
    },
  }),
];
