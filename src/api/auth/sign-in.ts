import type { FastifyRequest } from 'fastify';
import {
  AuthOptionsResponse,
  LoginRequest,
  LogoutRequest,
  MeResponse,
  RefreshRequest,
  SignInResponse,
  SignInsEndedResponse,
  UserRole,
} from '../../../schemas/api/auth.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { CheckedUser } from '../../accounts/sign-in/check-password.js';
import { renewSignIn, signOut, startSignIn } from '../../accounts/sign-in/sign-ins.js';
import { withTransaction } from '../../platform/database/pool.js';
import { refuseExcess } from '../guards/rate-limiter.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';
import { PANEL_ROLES } from '../server/operation.js';
import { countFailures, throttleFailures } from './attempts.js';
import { type AuthDeps, mailOf, route } from './deps.js';
import { PASSWORD_OPERATIONS } from './passwords.js';
import { missingSecondFactor } from './second-factor.js';
import type { AuthRoute } from './serve-auth.js';
import {
  COOKIE_HEADER,
  clearRefreshCookie,
  type GrantedTokens,
  refreshCookieOf,
  respondWithTokens,
  SHOWN_ENDED,
  SHOWN_TOKENS,
  userSummary,
} from './tokens.js';

const shared = { tag: 'Sign-in', bodyLimit: 4_096 } as const;
/** Failed attempts per minute from one address. */
export const FAILURES_BY_ADDRESS = 30;
/**
 * Failed sign-ins per minute on one account from one address. Guesses from that address do not lock the user out
 * elsewhere.
 */
const FAILURES_BY_ACCOUNT_AND_ADDRESS = 10;
/** Failed sign-ins per minute on one account from all addresses, against distributed guessing. */
const FAILURES_BY_ACCOUNT = 100;
/** Sign-ins per minute of one account. Each adds a row, and an entry to the append-only audit log. */
const SIGN_INS_BY_ACCOUNT = 30;

/** Sign-in, sign-out and passwords: the routes of /api/v1/auth that are not resources of the panel. */
export const AUTH_OPERATIONS: readonly AuthRoute[] = [
  route({
    auth: 'open',
    limit: 'failures',
    ...shared,
    id: 'login',
    method: 'post',
    path: '/api/v1/auth/login',
    summary: 'Sign in',
    description:
      'Starts a sign-in. 401 SECOND_FACTOR_REQUIRED if the password is right and a second factor is missing; `passkeys` names those of the user. A sign-in ends when the user signs out, 7 days after its last renewal, and at the latest 30 days after it started. The access token is valid for `expires_in` seconds.',
    body: LoginRequest,
    response: SignInResponse,
    headers: COOKIE_HEADER,
    errors: ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED', 'SECOND_FACTOR_INVALID', 'CROSS_SITE_REQUEST'],
    example: {
      body: { email: EXAMPLE_VALUES.email, password: EXAMPLE_VALUES.password },
      response: SHOWN_TOKENS('Signed in.'),
    },
    action: 'sign_in.start',
    handle: async (call, deps) => {
      const { email, password } = call.body;
      const { request } = call;
      const [account, address] = [email.toLowerCase(), request.countedClient];
      // The limit of the account comes last: attempts that an earlier limit refused must not count against it.
      const limits = [
        { scope: 'sign-in-address', key: address, limit: FAILURES_BY_ADDRESS },
        { scope: 'sign-in-account-address', key: `${address} ${account}`, limit: FAILURES_BY_ACCOUNT_AND_ADDRESS },
        { scope: 'sign-in-account', key: account, limit: FAILURES_BY_ACCOUNT },
      ];
      const grant = async () => {
        const checked = await deps.checkPassword(email, password);
        if (checked === null) throw new ApiError('INVALID_CREDENTIALS');
        const { user } = checked;
        const passkeys = await missingSecondFactor(deps, request, user, call.body);
        if (passkeys !== null) return { passkeys };
        const started = await signInOf(deps, request, checked);
        if (started === null) throw new ApiError('INVALID_CREDENTIALS');
        return started;
      };
      return respondWithTokens(deps.tokens, call, 'Signed in.', async () => {
        const granted = await countFailures(deps.rateLimiter, limits, grant);
        // This is not a failure: the password was right, and the client now asks the user for the code.
        if ('passkeys' in granted) throw new ApiError('SECOND_FACTOR_REQUIRED', undefined, granted);
        return granted;
      });
    },
  }),
  route({
    auth: 'open',
    limit: 'failures',
    ...shared,
    id: 'refresh',
    method: 'post',
    path: '/api/v1/auth/refresh',
    summary: 'Renew the access token',
    description:
      'A refresh token is valid for one renewal, and the response contains the next one. The same client can repeat it within 10 seconds, and gets the same response. A later second use ends the whole sign-in: store the new token before you continue. A sign-in with `"refresh_token_in": "cookie"` renews with `{"refresh_token_in": "cookie"}` and the cookie; if the sign-in has ended, the response removes the cookie.',
    body: RefreshRequest,
    response: SignInResponse,
    headers: COOKIE_HEADER,
    errors: ['INVALID_BEARER_TOKEN', 'CROSS_SITE_REQUEST'],
    example: { body: { refresh_token: EXAMPLE_VALUES.refreshToken }, response: SHOWN_TOKENS('Renewed.') },
    handle: async (call, deps) => {
      const { body, request, reply } = call;
      const limit = { scope: 'refresh-address', key: request.countedClient, limit: FAILURES_BY_ADDRESS };
      const grant = async () => {
        const renewed = await renewSignIn(deps.apiPool, deps.seals, {
          refreshToken: body.refresh_token_in === 'cookie' ? refreshCookieOf(request) : body.refresh_token,
          client: `${request.countedClient} ${request.headers['user-agent'] ?? ''}`,
          refreshKey: await deps.refreshKey(),
        });
        if (renewed !== null) return renewed;
        if (body.refresh_token_in === 'cookie') clearRefreshCookie(request, reply);
        throw new ApiError('INVALID_BEARER_TOKEN');
      };
      return respondWithTokens(deps.tokens, call, 'Renewed.', () => throttleFailures(deps.rateLimiter, limit, grant));
    },
  }),
  route({
    auth: 'user',
    roles: PANEL_ROLES,
    ...shared,
    id: 'me',
    path: '/api/v1/auth/me',
    summary: 'Get the current user',
    response: MeResponse,
    example: {
      response: {
        data: { id: SHOWN.userId, tenant_id: SHOWN.tenantId, email: EXAMPLE_VALUES.panelEmail, role: 'owner' },
      },
    },
    handle: async ({ user }) => ({ data: userSummary(user) }),
  }),
  ...PASSWORD_OPERATIONS,
  route({
    auth: 'user',
    roles: UserRole.options,
    ...shared,
    id: 'logout',
    method: 'post',
    path: '/api/v1/auth/logout',
    summary: 'Sign out, from one sign-in or from all',
    description:
      'The refresh token is invalid immediately, the access token within a second. With `everywhere`, every sign-in of the user ends.',
    body: LogoutRequest,
    response: SignInsEndedResponse,
    example: { body: { everywhere: true }, response: SHOWN_ENDED('Signed out.', 1) },
    action: 'sign_in.end',
    handle: async ({ user, body: { everywhere }, request, reply }, { apiPool }) => {
      const ended = await signOut(apiPool, user, everywhere);
      clearRefreshCookie(request, reply);
      return { message: 'Signed out.', data: { ended_sign_ins: ended } };
    },
  }),
  route({
    auth: 'open',
    ...shared,
    id: 'readAuthOptions',
    path: '/api/v1/auth/options',
    summary: 'Get the ways to sign in that this installation has',
    description: 'A sign-in page reads it to offer only what works. It needs no credential.',
    response: AuthOptionsResponse,
    example: { response: { data: { mail: true, sign_up: 'invite', passkeys: true } } },
    handle: async (_call, deps) => ({
      data: {
        mail: deps.queueMail !== null,
        sign_up: deps.createAccount === null ? ('invite' as const) : ('open' as const),
        passkeys: deps.relyingParty !== null,
      },
    }),
  }),
];

/**
 * Starts the sign-in of a user whose credentials were checked, and counts it.
 * @returns null if the user was disabled or the password changed meanwhile
 * @throws ApiError TOO_MANY_SIGN_IN_ATTEMPTS
 */
export async function signInOf(
  deps: AuthDeps,
  request: FastifyRequest,
  { user, passwordHash }: CheckedUser,
): Promise<GrantedTokens | null> {
  refuseExcess(await deps.rateLimiter.take('sign-in', user.id, SIGN_INS_BY_ACCOUNT), 'TOO_MANY_SIGN_IN_ATTEMPTS');
  const started = await withTransaction(deps.apiPool, (db) =>
    startSignIn(db, user, passwordHash, mailOf(deps, request)),
  );
  return started && { user: { ...user, signInId: started.signInId }, refreshToken: started.refreshToken };
}
