import { randomUUID } from 'node:crypto';
import type { ScanFinding, ScanRequest, ScanResult, ScanVisit } from '../../../schemas/api/scans.js';
import type { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import { coversName } from '../../../schemas/text/name-pattern.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { activeDocuments } from '../directory/active-documents.js';
import type { SiteContext, SiteDirectory } from '../directory/site-context.js';
import { recordScan, refuseExcessRecords } from './record-scan.js';
import { findTarget, isUnder } from './scan-target.js';
import { type InitialCookie, ScanFailed, type Visit } from './visit.js';
import { createVisits, type VisitOptions } from './visit-in-process.js';

/**
 * Number of scans that one process runs at a time. A browser needs some hundred megabytes and may use up to a gigabyte.
 */
const MAX_CONCURRENT = 2;
const RETRY_AFTER_SECONDS = 15;

export interface ScannerOptions extends VisitOptions {
  readonly db: Queryable;
  readonly directory: SiteDirectory;
}

/**
 * Scans a page of a verified domain with two visits: one before any choice, one after every optional category was
 * refused.
 * @param caller site of the API key, or of the page of the panel
 * @throws RequestRefused SCAN_URL_REFUSED, WRONG_STATE, SCAN_FAILED, SCANNER_BUSY, SCAN_RECORDS_EXCEEDED
 */
export type ScanPage = (caller: SiteContext, request: RequestedScan, signal: AbortSignal) => Promise<ScanResult>;

export interface RequestedScan extends ScanRequest {
  /** Whether only pages of the caller's own site may be scanned, not those of other sites of the tenant. */
  readonly isOwnSiteOnly?: boolean;
}

export function createScanner(options: ScannerOptions): ScanPage {
  const visit = createVisits(options);
  const targets = { ...options, allowsPorts: options.allowedNetworks.length > 0 };
  let running = 0;
  return async (caller, { url, record, signal: isSignalled, isOwnSiteOnly = false }, signal) => {
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
      const proved = { domain: site.domain, coversSubdomains: site.coversSubdomains };
      const first = compared(
        'none',
        await visit(page, proved, { cookie: null, isSignalled }, signal),
        site.domain,
        config,
      );
      const visits =
        refusal === null
          ? [first]
          : [
              first,
              compared(
                'refused',
                await visit(page, proved, { cookie: refusal, isSignalled }, signal),
                site.domain,
                config,
              ),
            ];
      const result: ScanResult = {
        id: randomUUID(),
        event_id: null,
        site_id: site.siteId,
        url: page.href,
        method: options.chromePath === undefined ? 'http' : 'browser',
        signal: isSignalled,
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
 * Refuses to record a scan of another site: a key writes only into the log of its own site.
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
 * Returns the cookie of a visitor who refused every optional category, as the browser SDK stores it. Clicking the
 * banner instead would record a consent of a person who does not exist.
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

/** Choice at the start of a visit: none, or the refusal of every optional category. */
export type Choice = ScanVisit['choice'];

/** Prefixes of the names that the service's own banner stores: they keep the choice and the id of its visitor. */
const OWN_PREFIXES = ['_svc_consent', '_svc_visitor'];

/** Compares a visit with what the configuration declares. */
function compared(choice: Choice, visit: Visit, domain: string, config: SiteConfigPublishedRecord | null): ScanVisit {
  const declare = (name: string) => declaredCategory(config, name);
  const isFirstParty = (host: string): boolean => isUnder(host, domain) || isUnder(domain, host);
  return {
    choice,
    final_url: visit.finalUrl,
    status: visit.status,
    is_complete: visit.isComplete,
    cookies: visit.cookies.map(({ name, domain: host, path, durationSeconds, isHttpOnly, isSecure }) => ({
      name,
      domain: host,
      path,
      party: isFirstParty(host) ? 'first' : 'third',
      duration_seconds: durationSeconds,
      http_only: isHttpOnly,
      secure: isSecure,
      category: declare(name),
    })),
    storage: visit.storage.map(({ kind, name }) => ({ kind, name, category: declare(name) })),
    third_party_hosts: visit.hosts.filter((host) => !isFirstParty(host)),
  };
}

/** Returns what is undeclared, or was set without the visitor's permission. */
export function findingsOf(visits: readonly ScanVisit[], config: SiteConfigPublishedRecord | null): ScanFinding[] {
  const required = new Set(config?.categories.filter((category) => category.required).map(({ key }) => key));
  const findings = new Map<string, ScanFinding>();
  for (const { choice, cookies, storage } of visits) {
    const found = [
      ...cookies.map(({ name, domain, category }) => ({ kind: 'cookie', name, domain, category }) as const),
      ...storage.map(({ kind, name, category }) => ({ kind, name, domain: null, category }) as const),
    ];
    for (const { kind, name, domain, category } of found) {
      if (OWN_PREFIXES.some((own) => name.startsWith(own)) || (category !== null && required.has(category))) continue;
      const late = choice === 'none' ? 'before_choice' : 'after_refusal';
      const problem = category === null ? 'undeclared' : late;
      findings.set(JSON.stringify([problem, kind, name, domain]), { problem, kind, name, domain, category });
    }
  }
  return [...findings.values()];
}

/** Returns the category of the first declared cookie that matches a name, or null if none does. */
function declaredCategory(config: SiteConfigPublishedRecord | null, name: string): string | null {
  return config?.cookies.find((cookie) => coversName(cookie.name, name))?.category ?? null;
}
