import * as z from 'zod';
import type { ScanResult } from '../../../schemas/api/scans.js';
import { SITE_SCANNED, SiteScannedRecord } from '../../../schemas/events/site-scanned.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { changeSite, noticeHead, putNotice } from '../sites/change-site.js';
import { scanRecord } from './scan-record.js';

/**
 * Recorded scans of a site in 24 hours: every evidence package of the site encloses all of them, for
 * ever.
 */
export const MAX_RECORDED_SCANS = 20;
const DAY_SECONDS = 24 * 60 * 60;

/**
 * Records the result of a scan as a notice of its site.
 * @param domain verified domain of the site when the page was scanned
 * @returns id of the event
 * @throws RequestRefused SCAN_RECORDS_EXCEEDED; SCAN_URL_REFUSED if the site has another domain now, or
 *   is no longer verified
 */
export function recordScan(db: Queryable, scan: ScanResult, domain: string): Promise<string> {
  return changeSite(db, scan.site_id, async (site) => {
    if (!site.isVerified || site.domain !== domain)
      throw new RequestRefused(
        'SCAN_URL_REFUSED',
        `The site is no longer verified for ${domain}. Verify its domain, then scan the page again.`,
      );
    // The lock on the site makes the count exact.
    await refuseExcessRecords(site.db, scan.site_id);
    const head = noticeHead(site);
    const text = await putNotice(site, SITE_SCANNED, SiteScannedRecord, scanRecord(head, scan));
    await site.db.query('insert into site_scans (event_id, site_id, record, recorded_at) values ($1, $2, $3, $4)', [
      head.event_id,
      scan.site_id,
      text,
      site.now,
    ]);
    return head.event_id;
  });
}

const OldestRows = z.array(z.object({ wait_seconds: z.number() }));

/**
 * Refuses another recorded scan of a site while it has `MAX_RECORDED_SCANS` of the last 24 hours.
 * @throws RequestRefused SCAN_RECORDS_EXCEEDED
 */
export async function refuseExcessRecords(db: Queryable, siteId: string): Promise<void> {
  const { rows } = await db.query(
    `select extract(epoch from recorded_at - now())::float8 + $2 as wait_seconds from site_scans
      where site_id = $1 and recorded_at > now() - $2 * interval '1 second'
      order by recorded_at desc offset $3 limit 1`,
    [siteId, DAY_SECONDS, MAX_RECORDED_SCANS - 1],
  );
  const [oldest] = OldestRows.parse(rows);
  if (oldest === undefined) return;
  throw new RequestRefused('SCAN_RECORDS_EXCEEDED', undefined, {
    retryAfterSeconds: Math.max(1, Math.ceil(oldest.wait_seconds)),
  });
}
