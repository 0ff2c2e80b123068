import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { createAddressCheck, isOriginAllowed } from '../../platform/net/allow-lists.js';
import type { ApiKey } from '../../tenancy/api-keys/api-key.js';
import type { KeyUsage } from '../../tenancy/api-keys/key-usage.js';
import type { SiteContext, SiteDirectory } from '../../tenancy/directory/site-context.js';
import { callerOf, type ToolCaller } from '../server/caller.js';
import { type ApiUsers, authenticateApiUser, reauthorizeApiUser } from './bearer.js';
import { refuseExcess, setRateLimitHeaders } from './rate-limit.js';
import type { RateLimiter } from './rate-limiter.js';

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
 * Creates the checks before the body, in this order: key, plan's rate limit, site verified,
 * address, origin, scope, bearer token. A client without a key learns nothing about a site. A
 * client outside the allow-lists does not learn the scope of the key.
 */
export function createToolGuards(options: ToolGuardOptions): ToolGuards {
  const isAddressAllowed = createAddressCheck();
  const authorize = (site: SiteContext, request: FastifyRequest): void => {
    if (!site.isVerified) throw new ApiError('SITE_NOT_VERIFIED');
    if (!isAddressAllowed(site.allowedIps, request.ip)) throw new ApiError('IP_NOT_ALLOWED');
    const { origin } = request.headers;
    if (origin !== undefined && !isOriginAllowed(site.allowedOrigins, origin)) throw new ApiError('ORIGIN_NOT_ALLOWED');
  };
  const guard =
    (scope: ApiKey['scope'], isS2s: boolean): Guard =>
    async (request, reply) => {
      const identified = await identify(options, request);
      const { site } = identified;
      const decision = await options.rateLimiter.take('plan', site.tenantId, site.plan.rateLimitPerMinute);
      setRateLimitHeaders(reply, decision);
      refuseExcess(decision, 'RATE_LIMIT_EXCEEDED');
      authorize(site, request);
      if (scope === 'write' && identified.apiKey.scope !== 'write') throw new ApiError('INSUFFICIENT_SCOPE');
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
    authorize(site, request);
    if (user !== undefined) await reauthorizeApiUser(options.apiUsers, user, site.tenantId);
  };
  const read = guard('read', false);
  return {
    anyKey: read,
    read,
    write: guard('write', false),
    s2s: guard('write', true),
    s2sRead: guard('read', true),
    authorize,
    reauthorize,
  };
}

async function identify(
  options: ToolGuardOptions,
  request: FastifyRequest,
): Promise<Pick<ToolCaller, 'apiKey' | 'rawApiKey' | 'site'>> {
  const rawApiKey = request.headers['x-api-key'];
  if (typeof rawApiKey !== 'string' || rawApiKey === '') throw new ApiError('MISSING_API_KEY');
  const apiKey = await options.directory.findApiKey(rawApiKey);
  if (apiKey === null) {
    // Only failures count, and only they are refused: clients that share an address with an
    // attacker can continue to work.
    const decision = await options.rateLimiter.take('invalid-key', request.countedClient, options.invalidKeyLimit);
    refuseExcess(decision, 'TOO_MANY_INVALID_API_KEYS');
    throw new ApiError('INVALID_API_KEY');
  }
  options.keyUsage.note(apiKey.id);
  return { apiKey, rawApiKey, site: await options.directory.site(apiKey.siteId) };
}
