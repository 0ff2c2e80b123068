import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { IDLE_SECONDS } from '../../accounts/credentials/credentials.js';

/**
 * Name of the cookie with the refresh token of a browser. Browsers accept the prefix `__Host-` only
 * from the host itself, for its whole path and over a secure connection (RFC 6265bis §4.1.3.2), so
 * that a page of a sibling domain cannot replace the token with its own.
 */
const NAME = '__Host-consent_ledger_refresh';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** Puts a refresh token into the cookie, for as long as a sign-in lasts without renewal. */
export function setRefreshCookie(reply: FastifyReply, refreshToken: string): void {
  reply.header('set-cookie', `${NAME}=${refreshToken}; ${ATTRIBUTES}; Max-Age=${IDLE_SECONDS}`);
}

/** Removes the cookie from the browser, if the request has it. */
export function clearRefreshCookie(request: FastifyRequest, reply: FastifyReply): void {
  if (cookieOf(request) !== null) reply.header('set-cookie', `${NAME}=; ${ATTRIBUTES}; Max-Age=0`);
}

/**
 * The refresh token in the cookie of a request.
 * @throws ApiError INVALID_BEARER_TOKEN if the request has no such cookie
 */
export function refreshCookieOf(request: FastifyRequest): string {
  const token = cookieOf(request);
  if (token === null) throw new ApiError('INVALID_BEARER_TOKEN', 'The request has no cookie with a refresh token.');
  return token;
}

/**
 * Refuses requests that no page of the service sent. `SameSite=Strict` counts sibling domains as the
 * same site, and older browsers ignore it; a page of another site could also sign a browser in as
 * its own user. Every browser sends `Origin` with a POST. `Sec-Fetch-Site` counts first, because a
 * proxy before the service may replace `Host`.
 * @throws ApiError CROSS_SITE_REQUEST
 */
export function refuseCrossSite(request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const isOwn = site === undefined ? originHost(origin) === request.host.toLowerCase() : site === 'same-origin';
  if (!isOwn) throw new ApiError('CROSS_SITE_REQUEST');
}

function originHost(origin: string | undefined): string | null {
  return origin !== undefined && URL.canParse(origin) ? new URL(origin).host : null;
}

function cookieOf({ headers }: FastifyRequest): string | null {
  const prefix = `${NAME}=`;
  const found = headers.cookie?.split(';').find((pair) => pair.trimStart().startsWith(prefix));
  return found === undefined ? null : found.trim().slice(prefix.length);
}
