import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONSENT_LIMITS } from '../../../schemas/api/consent-limits.js';
import { ApiError, ERROR_CODES } from '../../../schemas/api/error-codes.js';
import { createAddressCheck, isOriginAllowed, isOriginOf } from '../../platform/net/addresses.js';
import type { ApiKey } from '../../tenancy/api-keys/api-keys.js';
import type { KeyUsage } from '../../tenancy/api-keys/key-usage.js';
import type { SiteContext, SiteDirectory } from '../../tenancy/directory/site-context.js';
import { callerOf, type ToolCaller } from '../server/caller.js';
import { type ApiUsers, authenticateApiUser, reauthorizeApiUser } from './bearer.js';
import { type RateLimitDecision, type RateLimiter, refuseExcess, setRateLimitHeaders } from './rate-limiter.js';

export interface ToolGuardOptions {
  readonly directory: SiteDirectory;
  readonly rateLimiter: RateLimiter;
  readonly apiUsers: ApiUsers;
  readonly keyUsage: KeyUsage;
  /** Requests with unknown keys per minute of one client (`countedClient`). */
  readonly invalidKeyLimit: number;
}

/**
 * An `onRequest` hook that sets `request.caller`, or throws the ApiError of the response. It runs
 * before the body is read.
 */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

export interface ToolGuards {
  /** Any key of a verified site. */
  readonly anyKey: Guard;
  /** A key that may read: every key. */
  readonly read: Guard;
  /** A key that may read, for the configuration that every page view loads. */
  readonly configuration: Guard;
  /** A key of scope `write`. */
  readonly write: Guard;
  /** A key of scope `write`, and the bearer token of an `api_user` of the tenant. */
  readonly s2s: Guard;
  /** Any key, and such a bearer token: S2S routes of method GET. */
  readonly s2sRead: Guard;
  /**
   * Checks a request that passed its guard against a newer state of the site.
   * @throws ApiError SITE_NOT_VERIFIED, IP_NOT_ALLOWED, ORIGIN_NOT_ALLOWED
   */
  readonly authorize: (site: SiteContext, request: FastifyRequest) => void;
  /**
   * Reauthorizes key, site and user with data at most one second old. The body of a request can
   * take a minute to arrive.
   * @throws ApiError INVALID_API_KEY, SITE_NOT_VERIFIED, IP_NOT_ALLOWED, ORIGIN_NOT_ALLOWED,
   *   INVALID_BEARER_TOKEN, TENANT_MISMATCH, INSUFFICIENT_ROLE
   */
  readonly reauthorize: (request: FastifyRequest) => Promise<void>;
}

/**
 * Creates the checks before the body, in this order: key, site verified, address, origin, plan's
 * rate limit, scope, bearer token. A client without a key learns nothing about a site. A client
 * outside the allow-lists uses nothing, and does not learn the scope of the key.
 */
export function createToolGuards(options: ToolGuardOptions): ToolGuards {
  const isAddressAllowed = createAddressCheck();
  const authorizeKey = (apiKey: ApiKey, site: SiteContext, request: FastifyRequest): void => {
    if (!site.isVerified) throw new ApiError('SITE_NOT_VERIFIED');
    if (!isAddressAllowed(site.allowedIps, request.clientAddress)) throw new ApiError('IP_NOT_ALLOWED');
    const problem = originProblem(apiKey, site, request.headers.origin);
    if (problem !== null) throw new ApiError('ORIGIN_NOT_ALLOWED', problem);
  };
  const guard =
    (scope: ApiKey['scope'], isS2s: boolean, limit: Budget = 'plan'): Guard =>
    async (request, reply) => {
      const identified = await identify(options, request, rawApiKeyOf(request, limit));
      const { site, apiKey } = identified;
      // This comes before the limit, so that pages of other sites cannot use up the budget with a copied key.
      authorizeKey(apiKey, site, request);
      await takeBudget(options.rateLimiter, { apiKey, site, limit }, request, reply);
      if (isS2s && apiKey.restriction === 'publishable')
        throw new ApiError('INSUFFICIENT_SCOPE', 'S2S routes accept no publishable API key. Use a secret one.');
      if (scope === 'write' && apiKey.scope !== 'write') throw new ApiError('INSUFFICIENT_SCOPE');
      request.caller = isS2s
        ? {
            ...identified,
            channel: 's2s',
            user: await authenticateApiUser(options.apiUsers, request.headers.authorization, site.tenantId),
          }
        : { ...identified, channel: 'browser' };
    };
  const reauthorize = async (request: FastifyRequest): Promise<void> => {
    const { rawApiKey, user } = callerOf(request);
    const apiKey = await options.directory.findApiKey(rawApiKey);
    if (apiKey === null) throw new ApiError('INVALID_API_KEY');
    const site = await options.directory.site(apiKey.siteId);
    authorizeKey(apiKey, site, request);
    if (user !== undefined) await reauthorizeApiUser(options.apiUsers, user, site.tenantId);
  };
  const read = guard('read', false);
  return {
    anyKey: read,
    read,
    configuration: guard('read', false, 'configuration'),
    write: guard('write', false),
    s2s: guard('write', true),
    s2sRead: guard('read', true),
    authorize: (site, request) => authorizeKey(callerOf(request).apiKey, site, request),
    reauthorize,
  };
}

/**
 * Returns why a key may not be used with this `Origin` header, or null if it may.
 *
 * A publishable key is in the source of a page. It works only in browsers, and only on the listed
 * origins, or on the site's own domain if none is listed. A secret key must not reach a browser at
 * all, which the refusal shows to a developer at the first attempt.
 */
function originProblem(apiKey: ApiKey, site: SiteContext, origin: string | undefined): string | null {
  if (apiKey.restriction === 'secret')
    return origin === undefined ? null : 'A secret API key must not be used in a browser. Use a publishable one.';
  if (origin === undefined)
    return apiKey.restriction === 'publishable' ? 'A publishable API key requires the header Origin.' : null;
  const isPublic = apiKey.restriction === 'publishable' && site.allowedOrigins.length === 0;
  const isAllowed = isPublic ? isOriginOf(site.domain, origin) : isOriginAllowed(site.allowedOrigins, origin);
  return isAllowed ? null : ERROR_CODES.ORIGIN_NOT_ALLOWED.meaning;
}

/**
 * Takes the consents of a request with a publishable key, in addition to the request itself: a submission batch of 100
 * counts as one request, and a visitor who copies the key could use up the quota with a few of them. The limits are
 * those of requests, but never below one batch.
 * @throws ApiError RATE_LIMIT_EXCEEDED
 */
export async function takeConsents(
  limiter: RateLimiter,
  { apiKey, site }: Pick<ToolCaller, 'apiKey' | 'site'>,
  countedClient: string,
  consents: number,
): Promise<void> {
  if (apiKey.restriction !== 'publishable') return;
  const { rateLimitPerMinute } = site.plan;
  const address = `${site.tenantId} ${countedClient}`;
  const limits = [
    ['publishable consents of address', address, limitOfAddress(rateLimitPerMinute)],
    ['publishable consents', site.tenantId, rateLimitPerMinute],
  ] as const;
  const taken: (readonly [scope: string, key: string])[] = [];
  for (const [scope, key, limit] of limits) {
    const decision = await limiter.take(scope, key, Math.max(limit, CONSENT_LIMITS.batchItems), consents);
    if (decision.allowed) {
      taken.push([scope, key]);
      continue;
    }
    // A refused request counts against no limit.
    for (const [ownScope, ownKey] of taken) await limiter.giveBack(ownScope, ownKey, consents);
    refuseExcess(decision, 'RATE_LIMIT_EXCEEDED');
  }
}

function limitOfAddress(rateLimitPerMinute: number): number {
  return Math.max(MIN_ADDRESS_LIMIT, Math.floor(rateLimitPerMinute * ADDRESS_PART));
}

type Budget = 'plan' | 'configuration';

/** Fraction of the budget of publishable keys that one address may use. */
const ADDRESS_PART = 1 / 4;
const MIN_ADDRESS_LIMIT = 10;

/**
 * Takes one request from the budget of the tenant. Publishable keys have a separate budget of the same size, so that
 * visitors cannot use up the backend's. Within it, one address cannot use up the share of other visitors.
 * @throws ApiError RATE_LIMIT_EXCEEDED
 */
async function takeBudget(
  limiter: RateLimiter,
  { apiKey, site, limit }: { readonly apiKey: ApiKey; readonly site: SiteContext; readonly limit: Budget },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { rateLimitPerMinute } = site.plan;
  const answer = (decision: RateLimitDecision): void => {
    setRateLimitHeaders(reply, decision);
    refuseExcess(decision, 'RATE_LIMIT_EXCEEDED');
  };
  if (apiKey.restriction !== 'publishable')
    return answer(await limiter.take('plan', site.tenantId, rateLimitPerMinute));
  const perAddress = limitOfAddress(rateLimitPerMinute);
  const [scope, address] = [`publishable ${limit}`, `${site.tenantId} ${request.countedClient}`];
  const own = await limiter.take(scope, address, perAddress);
  if (limit === 'configuration' || !own.allowed) return answer(own);
  const all = await limiter.take('publishable', site.tenantId, rateLimitPerMinute);
  // A refused request counts against neither limit.
  if (!all.allowed) await limiter.giveBack(scope, address);
  // The headers show the limit that the client will reach first.
  answer(all.allowed && own.remaining <= all.remaining ? own : all);
}

/** What the parameter `key` of an address holds; undefined if it is absent. @param query of the request */
export function keyInAddress(query: unknown): unknown {
  return typeof query === 'object' && query !== null && 'key' in query ? query.key : undefined;
}

/**
 * The key of a request. A page may put its key into the address of the configuration, which then needs no preflight
 * request and can be loaded ahead. Addresses are logged by proxies, so a secret key does not count there.
 * @throws ApiError MISSING_API_KEY
 */
function rawApiKeyOf({ headers, query }: FastifyRequest, limit: Budget): string {
  const rawApiKey = headers['x-api-key'] ?? (limit === 'configuration' ? keyInAddress(query) : undefined);
  if (typeof rawApiKey !== 'string' || rawApiKey === '') throw new ApiError('MISSING_API_KEY');
  return rawApiKey;
}

async function identify(
  options: ToolGuardOptions,
  request: FastifyRequest,
  rawApiKey: string,
): Promise<Pick<ToolCaller, 'apiKey' | 'rawApiKey' | 'site'>> {
  const apiKey = await options.directory.findApiKey(rawApiKey);
  if (apiKey === null) {
    // Only failures count and only failures are refused, so clients that share an address with an attacker keep
    // working.
    const decision = await options.rateLimiter.take('invalid-key', request.countedClient, options.invalidKeyLimit);
    refuseExcess(decision, 'TOO_MANY_INVALID_API_KEYS');
    throw new ApiError('INVALID_API_KEY');
  }
  if (apiKey.restriction === 'secret' && request.headers['x-api-key'] === undefined)
    throw new ApiError('MISSING_API_KEY', 'A secret API key must not be in an address. Send it as X-API-Key.');
  options.keyUsage.note(apiKey.id);
  return { apiKey, rawApiKey, site: await options.directory.site(apiKey.siteId) };
}
