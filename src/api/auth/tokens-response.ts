import type { FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import type { RefreshTokenPlace, SignInResponse, UserSummary } from '../../../schemas/api/auth.js';
import { ACCESS_TOKEN_SECONDS } from '../../accounts/credentials/credentials.js';
import type { AccessTokens } from '../../accounts/sign-in/access-tokens.js';
import type { SignedInUser, User } from '../../accounts/users/user-directory.js';
import { refuseCrossSite, setRefreshCookie } from './refresh-cookie.js';

/** A request that begins or renews a sign-in. */
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
 * Runs a request that begins or renews a sign-in, and responds with its tokens: the refresh token in
 * the body or in the cookie, as the request asks.
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
