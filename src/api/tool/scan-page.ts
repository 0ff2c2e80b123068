import { ApiError } from '../../../schemas/api/error-codes.js';
import { ScanResponse } from '../../../schemas/api/scans.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import type { ScanPage } from '../../tenancy/scans/scan-site.js';
import { refuseExcess } from '../guards/rate-limit.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import { scanPage } from './operations/scans.js';
import { type ToolRoute, writes } from './route.js';

/** Scans of one tenant per minute. */
const SCANS_PER_MINUTE = 6;

export interface ScanRoutesOptions {
  readonly admission: Pick<Admission, 'useNonce'>;
  readonly rateLimiter: RateLimiter;
  readonly scan: ScanPage;
}

/**
 * Counts a scan of a tenant, however it is requested.
 * @throws ApiError SCAN_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE
 */
export async function takeScan(rateLimiter: RateLimiter, tenantId: string): Promise<void> {
  refuseExcess(await rateLimiter.take('scan', tenantId, SCANS_PER_MINUTE), 'SCAN_LIMIT_EXCEEDED');
}

/**
 * Scans pages of the tenant's verified domains. The result is answered directly: a scan is bounded
 * to less than a minute. It is kept only if the request asks for a record, as an event of the log.
 */
export function scanRoutes({ admission, rateLimiter, scan }: ScanRoutesOptions): readonly ToolRoute[] {
  return [
    writes(scanPage, async ({ caller, signed, body, closing }) => {
      await admission.useNonce(signed);
      // Visitors can copy such a key, and must not set off scans.
      if (caller.apiKey.restriction === 'publishable')
        throw new ApiError('INSUFFICIENT_SCOPE', 'Scans accept no publishable API key. Use a secret one.');
      const request = body();
      await takeScan(rateLimiter, caller.site.tenantId);
      return ScanResponse.parse({ data: await scan(caller.site, request, closing) });
    }),
  ];
}
