import { randomUUID } from 'node:crypto';
import type { ScanRequest, ScanResult } from '../../../schemas/api/scans.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { activeDocuments } from '../directory/active-documents.js';
import type { SiteContext, SiteDirectory } from '../directory/site-context.js';
import { compared, findingsOf } from './findings.js';
import { recordScan, refuseExcessRecords } from './record-scan.js';
import { findTarget } from './scan-target.js';
import { type InitialCookie, ScanFailed } from './visit.js';
import { createVisits, type VisitOptions } from './visit-in-process.js';

/** Scans of one process at a time: a browser needs some hundred megabytes, and may use a gigabyte. */
const MAX_CONCURRENT = 2;
const RETRY_AFTER_SECONDS = 15;

export interface ScannerOptions extends VisitOptions {
  readonly db: Queryable;
  readonly directory: SiteDirectory;
}

/**
 * Scans a page of a verified domain: visits it before any choice, and after every optional category
 * was refused.
 * @param caller site of the API key, or of the page of the panel
 * @throws RequestRefused SCAN_URL_REFUSED, SCAN_FAILED, SCANNER_BUSY, SCAN_RECORDS_EXCEEDED
 */
export type ScanPage = (caller: SiteContext, request: RequestedScan, signal: AbortSignal) => Promise<ScanResult>;

export interface RequestedScan extends ScanRequest {
  /** Whether only pages of the caller's site are scanned, and none of another site of the tenant. */
  readonly isOwnSiteOnly?: boolean;
}

export function createScanner(options: ScannerOptions): ScanPage {
  const visit = createVisits(options);
  const targets = { ...options, allowsPorts: options.allowedNetworks.length > 0 };
  let running = 0;
  return async (caller, { url, record, isOwnSiteOnly = false }, signal) => {
    const { site, url: page } = await findTarget(targets, caller, url);
    if (record || isOwnSiteOnly) refuseOtherSite(site, caller, isOwnSiteOnly);
    if (record) await refuseExcessRecords(options.db, site.siteId);
    if (running >= MAX_CONCURRENT)
      throw new RequestRefused('SCANNER_BUSY', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    running += 1;
    const startedAt = new Date().toISOString();
    try {
      const config = site.config?.record ?? null;
      const refusal = refusalCookie(site);
      const first = compared('none', await visit(page, site.domain, null, signal), site.domain, config);
      const visits =
        refusal === null
          ? [first]
          : [first, compared('refused', await visit(page, site.domain, refusal, signal), site.domain, config)];
      const result: ScanResult = {
        id: randomUUID(),
        event_id: null,
        site_id: site.siteId,
        url: page.href,
        method: options.chromePath === undefined ? 'http' : 'browser',
        started_at: startedAt,
        ended_at: new Date().toISOString(),
        site_config_hash: site.config?.sha256 ?? null,
        visits,
        findings: findingsOf(visits, config),
      };
      if (!record) return result;
      return { ...result, event_id: await recordScan(options.db, result, site.domain) };
    } catch (error) {
      if (error instanceof ScanFailed) throw new RequestRefused('SCAN_FAILED', error.message);
      throw error;
    } finally {
      running -= 1;
    }
  };
}

/**
 * A key writes into the log of its own site only.
 * @throws RequestRefused SCAN_URL_REFUSED
 */
function refuseOtherSite(site: SiteContext, caller: SiteContext, isOwnSiteOnly: boolean): void {
  if (site.siteId === caller.siteId) return;
  const advice = isOwnSiteOnly
    ? 'Scan it there.'
    : 'Record its scan with an API key of that site, or scan without record.';
  throw new RequestRefused('SCAN_URL_REFUSED', `The page belongs to the site of ${site.domain}. ${advice}`);
}

/**
 * The cookie of a visitor who refused every optional category, as the browser SDK keeps it. A click
 * on the banner would record a consent of a person who does not exist.
 * @returns null if the site has no configuration or no cookie policy, so that it has no banner
 */
function refusalCookie(site: SiteContext): InitialCookie | null {
  if (site.config === null) return null;
  const { categories, default_language: language } = site.config.record;
  const policy = activeDocuments(site, [language]).find(({ kind }) => kind === 'cookie_policy');
  if (policy === undefined) return null;
  const choice = {
    decision: 'rejected',
    categories: categories.map(({ key, required }) => (required ? key : `!${key}`)).join('.'),
    document_version_id: policy.version.id,
    language: policy.language,
  };
  return { name: '_svc_consent', value: encodeURIComponent(JSON.stringify(choice)) };
}
