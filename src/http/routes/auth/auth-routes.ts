import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LoginRequest, type MeResponse, RefreshRequest, type TokensResponse } from '../../../../schemas/api/auth.js';
import { ApiError } from '../../../../schemas/api/error-codes.js';
import type { RateLimiter } from '../../../admission/rate-limiter.js';
import { TOKEN_LIFETIMES } from '../../../catalogue/access-tokens.js';
import type { User } from '../../../catalogue/user-directory.js';
import type { CheckPassword } from '../../../catalogue/users.js';
import { type ApiUsers, authenticateUser } from '../../guards/bearer.js';
import { parseJsonBody, validate } from '../../json-body.js';
import { refuseExcess } from '../../rate-limit.js';

export interface AuthRouteDeps extends ApiUsers {
  readonly checkPassword: CheckPassword;
  readonly rateLimiter: RateLimiter;
}

/** Failed sign-ins a minute: for one address, and for one account. */
const FAILURES_BY_ADDRESS = 30;
const FAILURES_BY_ACCOUNT = 10;

/** POST /api/v1/auth/login, POST /api/v1/auth/refresh, GET /api/v1/auth/me */
export function authRoutes(scope: FastifyInstance, deps: AuthRouteDeps): void {
  scope.post('/api/v1/auth/login', { bodyLimit: 4096 }, async (request): Promise<TokensResponse> => {
    const { email, password } = validate(LoginRequest, parseJsonBody(request.rawBody));
    await refuseGuessing(deps, request, email);
    const user = await deps.checkPassword(email, password);
    if (user === null) throw new ApiError('INVALID_CREDENTIALS');
    await forgiveSuccess(deps, request, email);
    return tokensFor(deps, user, 'Signed in.');
  });
  scope.post('/api/v1/auth/refresh', { bodyLimit: 4096 }, async (request): Promise<TokensResponse> => {
    const { refresh_token } = validate(RefreshRequest, parseJsonBody(request.rawBody));
    const userId = await deps.tokens.verify(refresh_token, 'refresh');
    const user = userId === null ? null : await deps.users.byId(userId);
    if (user === null) throw new ApiError('INVALID_BEARER_TOKEN');
    return tokensFor(deps, user, 'Renewed.');
  });
  scope.get('/api/v1/auth/me', async (request): Promise<MeResponse> => {
    const user = await authenticateUser(deps, request.headers.authorization);
    if (user.role === 'api_user') throw new ApiError('INSUFFICIENT_ROLE', 'This user can use the S2S API only.');
    return { data: summary(user) };
  });
}

async function tokensFor(deps: AuthRouteDeps, user: User, message: string): Promise<TokensResponse> {
  const now = Math.floor(Date.now() / 1000);
  return {
    message,
    data: {
      token_type: 'Bearer',
      access_token: await deps.tokens.issue(user.id, 'access', now),
      expires_in: TOKEN_LIFETIMES.access,
      refresh_token: await deps.tokens.issue(user.id, 'refresh', now),
      user: summary(user),
    },
  };
}

/**
 * Every attempt counts before its password is looked at, or many at once would all be tried; a right one is given back, so that nobody is locked
 * out by signing in often.
 */
async function refuseGuessing(deps: AuthRouteDeps, request: FastifyRequest, email: string): Promise<void> {
  for (const { scope, key, limit } of attemptBuckets(request, email)) {
    refuseExcess(await deps.rateLimiter.take(scope, key, limit), 'TOO_MANY_SIGN_IN_ATTEMPTS');
  }
}

async function forgiveSuccess(deps: AuthRouteDeps, request: FastifyRequest, email: string): Promise<void> {
  for (const { scope, key } of attemptBuckets(request, email)) await deps.rateLimiter.giveBack(scope, key);
}

function attemptBuckets(request: FastifyRequest, email: string) {
  return [
    { scope: 'sign-in-address', key: request.ip, limit: FAILURES_BY_ADDRESS },
    { scope: 'sign-in-account', key: email.toLowerCase(), limit: FAILURES_BY_ACCOUNT },
  ];
}

function summary(user: User) {
  return { id: user.id, tenant_id: user.tenantId, email: user.email, role: user.role };
}
