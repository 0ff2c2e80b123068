import type { FastifyInstance } from 'fastify';
import {
  LoginRequest,
  LogoutRequest,
  type MeResponse,
  RefreshRequest,
  type SignInsEndedResponse,
  type TokensResponse,
} from '../../../schemas/api/auth.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { renewSignIn } from '../../accounts/sign-in/renew-sign-in.js';
import { signOut } from '../../accounts/sign-in/sign-out.js';
import { startSignIn } from '../../accounts/sign-in/start-sign-in.js';
import { withTransaction } from '../../platform/database/pool.js';
import { authenticatePanelUser, authenticateUser } from '../guards/bearer.js';
import { refuseExcess } from '../guards/rate-limit.js';
import { parseJsonBody, validate } from '../server/json-body.js';
import { addressKey, countFailures, throttleFailures } from './attempts.js';
import { AUTH_BODY_LIMIT, type AuthRouteDeps } from './auth-deps.js';
import { passwordRoutes } from './password-routes.js';
import { tokensResponse, userSummary } from './tokens-response.js';

/** Failed attempts a minute from one address. */
const FAILURES_BY_ADDRESS = 30;
/** Failed sign-ins a minute on one account from one address: whoever guesses from there shuts nobody out elsewhere. */
const FAILURES_BY_ACCOUNT_AND_ADDRESS = 10;
/** Failed sign-ins a minute on one account, from wherever: for guesses from many addresses. */
const FAILURES_BY_ACCOUNT = 100;
/** Sign-ins a minute to one account: each leaves a row, and a line in a log that nobody can shorten. */
const SIGN_INS_BY_ACCOUNT = 30;

/** Everything below /api/v1/auth that is not a resource of the panel: signing in and out, renewing, passwords, and who the user is. */
export function authRoutes(scope: FastifyInstance, deps: AuthRouteDeps): void {
  const { rateLimiter, apiPool, tokens } = deps;

  scope.post('/api/v1/auth/login', { bodyLimit: AUTH_BODY_LIMIT }, async (request): Promise<TokensResponse> => {
    const { email, password } = validate(LoginRequest, parseJsonBody(request.rawBody));
    const [account, address] = [email.toLowerCase(), addressKey(request)];
    // The account last: what was refused before does not count on it.
    const limits = [
      { scope: 'sign-in-address', key: address, limit: FAILURES_BY_ADDRESS },
      { scope: 'sign-in-account-address', key: `${address} ${account}`, limit: FAILURES_BY_ACCOUNT_AND_ADDRESS },
      { scope: 'sign-in-account', key: account, limit: FAILURES_BY_ACCOUNT },
    ];
    return countFailures(rateLimiter, limits, async () => {
      const checked = await deps.checkPassword(email, password);
      if (checked === null) throw new ApiError('INVALID_CREDENTIALS');
      const { user, passwordHash } = checked;
      refuseExcess(await rateLimiter.take('sign-in', user.id, SIGN_INS_BY_ACCOUNT), 'TOO_MANY_SIGN_IN_ATTEMPTS');
      const started = await withTransaction(apiPool, (client) => startSignIn(client, user, passwordHash));
      if (started === null) throw new ApiError('INVALID_CREDENTIALS');
      return tokensResponse(tokens, { ...user, signInId: started.signInId }, started.refreshToken, 'Signed in.');
    });
  });

  scope.post('/api/v1/auth/refresh', { bodyLimit: AUTH_BODY_LIMIT }, async (request): Promise<TokensResponse> => {
    const { refresh_token } = validate(RefreshRequest, parseJsonBody(request.rawBody));
    const limit = { scope: 'refresh-address', key: addressKey(request), limit: FAILURES_BY_ADDRESS };
    return throttleFailures(rateLimiter, limit, async () => {
      const renewed = await renewSignIn(apiPool, refresh_token);
      if (renewed === null) throw new ApiError('INVALID_BEARER_TOKEN');
      return tokensResponse(tokens, renewed.user, renewed.refreshToken, 'Renewed.');
    });
  });

  scope.post('/api/v1/auth/logout', { bodyLimit: AUTH_BODY_LIMIT }, async (request): Promise<SignInsEndedResponse> => {
    const user = await authenticateUser(deps, request.headers.authorization);
    const body = request.rawBody.length === 0 ? {} : parseJsonBody(request.rawBody);
    const { everywhere } = validate(LogoutRequest, body);
    return { message: 'Signed out.', data: { ended_sign_ins: await signOut(apiPool, user, everywhere) } };
  });

  scope.get('/api/v1/auth/me', async (request): Promise<MeResponse> => {
    return { data: userSummary(await authenticatePanelUser(deps, request.headers.authorization)) };
  });

  passwordRoutes(scope, deps);
}
