import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { createAddressCheck, isOriginAllowed } from '../../platform/net/addresses.js';
import type { SiteContext, SiteDirectory } from '../../tenancy/directory/site-context.js';
import { type RateLimiter, refuseExcess, setRateLimitHeaders } from './rate-limiter.js';
import { type Guard, keyInAddress } from './tool-guard.js';

/** Requests without an API key, per minute of one client (`countedClient`). */
export const SCANNER_LIMIT = 10;

export interface ScannerGuardOptions {
  /** The host name of the public scanner, in lower case. */
  readonly host: string;
  readonly directory: SiteDirectory;
  readonly rateLimiter: RateLimiter;
}

/** The check of requests to the public scanner without an API key. */
export interface ScannerGuard {
  /** Returns whether a request names the scanner's host and no API key. */
  readonly serves: (request: FastifyRequest) => boolean;
  /** Sets `request.scannedSite`, or throws the ApiError of the response. */
  readonly guard: Guard;
}

/**
 * Creates the check of the public scanner: the limit of the address, then the domain, then the
 * site's lists. A site that is not verified is answered like one that does not exist.
 */
export function createScannerGuard({ host, directory, rateLimiter }: ScannerGuardOptions): ScannerGuard {
  const isAddressAllowed = createAddressCheck();
  return {
    serves: ({ hostname, headers, query }) =>
      hostname.toLowerCase() === host && (headers['x-api-key'] ?? '') === '' && (keyInAddress(query) ?? '') === '',
    guard: async (request, reply) => {
      // Failures also count, because each domain costs a look-up.
      const decision = await rateLimiter.take('scanner', request.countedClient, SCANNER_LIMIT);
      setRateLimitHeaders(reply, decision);
      refuseExcess(decision, 'RATE_LIMIT_EXCEEDED');
      const site = await siteOf(directory, domainOf(request.query));
      if (!isAddressAllowed(site.allowedIps, request.clientAddress)) throw new ApiError('IP_NOT_ALLOWED');
      const { origin } = request.headers;
      if (origin !== undefined && !isOriginAllowed(site.allowedOrigins, origin))
        throw new ApiError('ORIGIN_NOT_ALLOWED');
      request.scannedSite = site;
    },
  };
}

function domainOf(query: unknown): string {
  const domain = typeof query === 'object' && query !== null && 'domain' in query ? query.domain : undefined;
  if (typeof domain === 'string' && domain !== '') return domain.toLowerCase();
  throw new ApiError(
    'MISSING_API_KEY',
    'Without the header X-API-Key, name the verified domain of a site, for example ?domain=shop.example.',
  );
}

async function siteOf(directory: SiteDirectory, domain: string): Promise<SiteContext> {
  const site = await directory.verifiedSite(domain);
  if (site === null) throw new ApiError('SITE_NOT_FOUND', 'The service has no site with this verified domain.');
  return site;
}
