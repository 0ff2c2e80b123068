import type { FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import type { RefreshTokenPlace, SignInResponse, UserSummary } from '../../../schemas/api/auth.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { ACCESS_TOKEN_SECONDS, IDLE_SECONDS } from '../../accounts/credentials/credentials.js';
import type { AccessTokens } from '../../accounts/sign-in/access-tokens.js';
import type { SignedInUser, User } from '../../accounts/users/user-directory.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';

/** A request that starts or renews a sign-in. */
export interface TokenRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly body: { readonly refresh_token_in?: RefreshTokenPlace | undefined };
}

export interface GrantedTokens {
  readonly user: SignedInUser;
  readonly refreshToken: string;
}

/**
 * Handles a request that starts or renews a sign-in, and responds with its tokens. The refresh token is in the body or
 * in the cookie, as the request asks.
 * @param grant checks the credentials
 * @throws ApiError CROSS_SITE_REQUEST before `grant` runs; what `grant` throws
 */
export async function respondWithTokens(
  tokens: AccessTokens,
  { request, reply, body }: TokenRequest,
  message: string,
  grant: () => Promise<GrantedTokens>,
): Promise<SignInResponse> {
  const inCookie = body.refresh_token_in === 'cookie';
  if (inCookie) refuseCrossSite(request);
  const { user, refreshToken } = await grant();
  const nowSeconds = Math.floor(Date.now() / 1000);
  const data = {
    token_type: 'Bearer' as const,
    access_token: await tokens.issue({ userId: user.id, signInId: user.signInId }, nowSeconds),
    expires_in: ACCESS_TOKEN_SECONDS,
    user: userSummary(user),
  };
  if (!inCookie) return { message, data: { ...data, refresh_token: refreshToken } };
  setRefreshCookie(reply, refreshToken);
  return { message, data };
}

export function userSummary(user: User): z.infer<typeof UserSummary> {
  return { id: user.id, tenant_id: user.tenantId, email: user.email, role: user.role };
}

/**
 * Name of the cookie with the refresh token of a browser. Browsers accept the prefix `__Host-` only from the host
 * itself, for its whole path and over a secure connection (RFC 6265bis §4.1.3.2), so a page of a sibling domain cannot
 * replace the token with its own.
 */
const NAME = '__Host-consent_ledger_refresh';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** Puts a refresh token into the cookie, for as long as a sign-in lasts without renewal. */
function setRefreshCookie(reply: FastifyReply, refreshToken: string): void {
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
 * Refuses requests that no page of the service sent. `SameSite=Strict` counts sibling domains as the same site, and
 * older browsers ignore it; a page of another site could also sign a browser in as its own user. Every browser sends
 * `Origin` with a POST. `Sec-Fetch-Site` is preferred, because a proxy in front of the service may replace `Host`.
 * @throws ApiError CROSS_SITE_REQUEST
 */
function refuseCrossSite(request: FastifyRequest): void {
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

/** The responses of the examples. */
export const SHOWN_TOKENS = (
  message: string,
  user: { readonly email: string; readonly role: string } = { email: EXAMPLE_VALUES.email, role: 'api_user' },
): JsonObject => ({
  message,
  data: {
    token_type: 'Bearer',
    access_token: SHOWN.accessToken,
    expires_in: 900,
    refresh_token: EXAMPLE_VALUES.refreshToken,
    user: { id: SHOWN.userId, tenant_id: SHOWN.tenantId, ...user },
  },
});

export const SHOWN_ENDED = (message: string, ended: number): JsonObject => ({
  message,
  data: { ended_sign_ins: ended },
});

/** The header of a response with the refresh token in a cookie. */
export const COOKIE_HEADER = {
  'Set-Cookie':
    'Only with `"refresh_token_in": "cookie"`: the refresh token, for the browser alone. The body then has none.',
};
