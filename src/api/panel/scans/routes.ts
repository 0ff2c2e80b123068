import { recordScan, refuseExcessRecords } from '../../../tenancy/scans/record-scan.js';
import { takeScan } from '../../tool/scan-page.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changesAfter, type PanelRoute, reads } from '../route.js';
import * as operations from './operations.js';
import { recordedScans } from './show-scans.js';

/** Longest scan, in milliseconds: two visits of 22 s each, with a margin for the work around them. */
const SCAN_MS = 60_000;

/**
 * Scans of the site's own pages. The page is visited outside the transaction; the record and its
 * audit entry are written in one.
 */
export function panelScanRoutes({ apiPool, directory, rateLimiter, scan }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(operations.listScans, ({ params, query }) => recordedScans(apiPool, params.site_id, query)),
    changesAfter(
      operations.scanSite,
      async ({ user, params, body }) => {
        await takeScan(rateLimiter, user.tenantId);
        if (body.record) await refuseExcessRecords(apiPool, params.site_id);
        const site = await directory.site(params.site_id);
        const request = { url: body.url, record: false, isOwnSiteOnly: true };
        return { domain: site.domain, result: await scan(site, request, AbortSignal.timeout(SCAN_MS)) };
      },
      async ({ params, body }, { domain, result }, db) => {
        const eventId = body.record ? await recordScan(db, result, domain) : null;
        return {
          response: { data: { ...result, event_id: eventId } },
          subject: { kind: 'site', id: params.site_id },
          details: { findings: result.findings.length, ...(eventId !== null && { event_id: eventId }) },
        };
      },
    ),
  ];
}
