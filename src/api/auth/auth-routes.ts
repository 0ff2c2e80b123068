import { ApiError } from '../../../schemas/api/error-codes.js';
import { renewSignIn, signOut, startSignIn } from '../../accounts/sign-in/sign-ins.js';
import { withTransaction } from '../../platform/database/pool.js';
import { FairTurns } from '../guards/fair-turns.js';
import { refuseExcess } from '../guards/rate-limit.js';
import { countFailures, throttleFailures } from './attempts.js';
import { type AuthRouteOptions, mailOf } from './auth-deps.js';
import { login, logout, me, readAuthOptions, refresh } from './operations.js';
import { passwordRoutes } from './password-routes.js';
import { clearRefreshCookie, refreshCookieOf } from './refresh-cookie.js';
import { type AuthRoute, open, signedIn } from './route.js';
import { passesSecondFactor, secondFactorRoutes } from './second-factor-routes.js';
import { signUpRoutes } from './sign-up-routes.js';
import { respondWithTokens, userSummary } from './tokens-response.js';

/** Failed attempts a minute from one address. */
const FAILURES_BY_ADDRESS = 30;
/**
 * Failed sign-ins a minute on one account from one address: guesses from there do not lock the user
 * out elsewhere.
 */
const FAILURES_BY_ACCOUNT_AND_ADDRESS = 10;
/**
 * Failed sign-ins a minute on one account from any address: against guesses from many addresses.
 */
const FAILURES_BY_ACCOUNT = 100;
/**
 * Requests by strangers of which mails are queued, as far as one process works on them at a time: one of each
 * network, so that a network's are counted one by one, and a flood takes few connections to the database. And those
 * that wait.
 */
const QUEUED_AT_A_TIME = 2;
/** Time that a place stays empty afterwards, as a multiple of that of the work: most of a flood is refused for its proof. */
const PAUSE = 2;
const MAX_WAITING = 500;
/** Sign-ins a minute of one account: each adds a row, and an entry to the append-only audit log. */
const SIGN_INS_BY_ACCOUNT = 30;

/**
 * The routes of /api/v1/auth that are no resources of the panel: sign-in, renewal, sign-out,
 * passwords and the current user.
 */
export function authRoutes(options: AuthRouteOptions): readonly AuthRoute[] {
  const { rateLimiter, apiPool, tokens, queueMail, now } = options;
  const turns = new FairTurns({ slots: QUEUED_AT_A_TIME, now, pause: PAUSE, maxWaiting: MAX_WAITING });
  return [
    open(login, async (call) => {
      const { email, password } = call.body;
      const { request } = call;
      const [account, address] = [email.toLowerCase(), request.countedClient];
      // The account last: attempts that an earlier limit refused do not count on it.
      const limits = [
        { scope: 'sign-in-address', key: address, limit: FAILURES_BY_ADDRESS },
        { scope: 'sign-in-account-address', key: `${address} ${account}`, limit: FAILURES_BY_ACCOUNT_AND_ADDRESS },
        { scope: 'sign-in-account', key: account, limit: FAILURES_BY_ACCOUNT },
      ];
      const grant = async () => {
        const checked = await options.checkPassword(email, password);
        if (checked === null) throw new ApiError('INVALID_CREDENTIALS');
        const { user, passwordHash } = checked;
        if (!(await passesSecondFactor(options, request, user, call.body))) return null;
        refuseExcess(await rateLimiter.take('sign-in', user.id, SIGN_INS_BY_ACCOUNT), 'TOO_MANY_SIGN_IN_ATTEMPTS');
        const started = await withTransaction(apiPool, (db) =>
          startSignIn(db, user, passwordHash, mailOf(options, request)),
        );
        if (started === null) throw new ApiError('INVALID_CREDENTIALS');
        return { user: { ...user, signInId: started.signInId }, refreshToken: started.refreshToken };
      };
      return respondWithTokens(tokens, call, 'Signed in.', async () => {
        const granted = await countFailures(rateLimiter, limits, grant);
        // No failure: the password was right, and the client asks the user for the code.
        if (granted === null) throw new ApiError('SECOND_FACTOR_REQUIRED');
        return granted;
      });
    }),
    open(refresh, async (call) => {
      const { body, request, reply } = call;
      const limit = { scope: 'refresh-address', key: request.countedClient, limit: FAILURES_BY_ADDRESS };
      const grant = async () => {
        const renewed = await renewSignIn(apiPool, options.seals, {
          refreshToken: body.refresh_token_in === 'cookie' ? refreshCookieOf(request) : body.refresh_token,
          client: `${request.countedClient} ${request.headers['user-agent'] ?? ''}`,
          refreshKey: await options.refreshKey(),
        });
        if (renewed !== null) return renewed;
        if (body.refresh_token_in === 'cookie') clearRefreshCookie(request, reply);
        throw new ApiError('INVALID_BEARER_TOKEN');
      };
      return respondWithTokens(tokens, call, 'Renewed.', () => throttleFailures(rateLimiter, limit, grant));
    }),
    signedIn(logout, async ({ user, body: { everywhere }, request, reply }) => {
      const ended = await signOut(apiPool, user, everywhere);
      clearRefreshCookie(request, reply);
      return { message: 'Signed out.', data: { ended_sign_ins: ended } };
    }),
    signedIn(me, async ({ user }) => ({ data: userSummary(user) })),
    open(readAuthOptions, async () => ({
      data: {
        mail: queueMail !== null,
        sign_up: options.createAccount === null ? ('invite' as const) : ('open' as const),
      },
    })),
    ...passwordRoutes(options, turns),
    ...secondFactorRoutes(options),
    ...signUpRoutes(options, turns),
  ];
}
