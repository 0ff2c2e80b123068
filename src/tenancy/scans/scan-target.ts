import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import type { SiteContext, SiteDirectory } from '../directory/site-context.js';
import { lapsedProof } from '../sites/proof-state.js';
import type { ScanTarget } from './visit.js';

export interface TargetOptions {
  readonly db: Queryable;
  readonly directory: SiteDirectory;
  /** Whether pages may have ports other than 80 and 443, because private networks are listed. */
  readonly allowsPorts: boolean;
}

/** A verified domain, and whether its proof covers its subdomains. */
export type ProvedDomain = Pick<SiteContext, 'domain' | 'coversSubdomains'>;

const DomainRows = z.array(z.object({ id: z.string(), domain: z.string() }));

/**
 * Finds the page to scan and its site: among the tenant's verified sites, the one with the longest domain that contains
 * the URL; if there are several, the site of the key.
 * @throws RequestRefused SCAN_URL_REFUSED, WRONG_STATE if the proof of the domain is gone for 30 days
 */
export async function findTarget(
  { db, directory, allowsPorts }: TargetOptions,
  caller: SiteContext,
  text: string,
): Promise<{ readonly site: SiteContext; readonly url: URL }> {
  const url = pageUrl(text);
  if (url === null) throw refused('The URL must begin with https:// or http:// and contain no credentials.');
  if (url.port !== '' && !allowsPorts) throw refused('The URL must not have a port other than 80 and 443.');
  const { rows } = await db.query('select id, domain from sites where tenant_id = $1 and verified_at is not null', [
    caller.tenantId,
  ]);
  const candidates = DomainRows.parse(rows)
    .filter(({ domain }) => isUnder(url.hostname, domain))
    .sort(
      (a, b) => b.domain.length - a.domain.length || Number(b.id === caller.siteId) - Number(a.id === caller.siteId),
    );
  for (const { id } of candidates) {
    const site = await intactSite(directory, id);
    if (site === null || site.tenantId !== caller.tenantId || !site.isVerified || !isProved(url.hostname, site))
      continue;
    if (site.isProofLapsed) throw new RequestRefused('WRONG_STATE', lapsedProof(site.domain));
    return { site, url };
  }
  throw refused(
    `${url.hostname} is not on a verified domain of the tenant. Verify the domain of the site first. A file or a tag of a page proves one host without its subdomains.`,
  );
}

/** Returns a page that stays on a domain, and on its port. */
export function targetAt(url: URL, proved: ProvedDomain): ScanTarget {
  return {
    url,
    allows: (next) =>
      pageUrl(next.href) !== null && isProved(next.hostname, proved) && (next.port === '' || next.port === url.port),
  };
}

/** Returns a site, or null if its row was altered, so that it grants nothing. */
async function intactSite(directory: SiteDirectory, siteId: string): Promise<SiteContext | null> {
  try {
    return await directory.site(siteId);
  } catch (error) {
    if (error instanceof RequestRefused && error.code === 'INVALID_API_KEY') return null;
    throw error;
  }
}

/** Returns the URL of a page without its fragment, or null for another scheme, or with credentials. */
export function pageUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '' || url.password !== '')
    return null;
  url.hash = '';
  return url;
}

/** Returns whether the proof of a domain covers a host. */
function isProved(host: string, { domain, coversSubdomains }: ProvedDomain): boolean {
  return coversSubdomains ? isUnder(host, domain) : host === domain;
}

/** Returns whether a host is a domain or one of its subdomains. */
export function isUnder(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

function refused(message: string): RequestRefused {
  return new RequestRefused('SCAN_URL_REFUSED', message);
}
