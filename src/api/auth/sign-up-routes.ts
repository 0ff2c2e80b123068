import { ApiError } from '../../../schemas/api/error-codes.js';
import { refuseOwnAddress } from '../../accounts/credentials/credentials.js';
import { mailboxOf, readSignUpToken, requestSignUp } from '../../accounts/sign-up/request-sign-up.js';
import type { FairTurns } from '../guards/fair-turns.js';
import { refuseExcess } from '../guards/rate-limit.js';
import { goneClient } from '../server/gone-client.js';
import { throttleFailures } from './attempts.js';
import { type AuthRouteOptions, mailOf } from './auth-deps.js';
import { type AuthRoute, open } from './route.js';
import { confirmSignUp, signUp } from './sign-up-operations.js';
import { respondWithTokens } from './tokens-response.js';

/** A minute: requests and completed sign-ups of one address each, and requests for one e-mail address. */
const REQUESTS_BY_ADDRESS = 10;
const REQUESTS_BY_EMAIL = 5;
const COMPLETED_BY_ADDRESS = 5;
const TOKEN_FAILURES_BY_ADDRESS = 30;

/**
 * POST /api/v1/auth/sign-up, /confirm-sign-up
 * @param turns turns of networks
 */
export function signUpRoutes(options: AuthRouteOptions, turns: FairTurns): readonly AuthRoute[] {
  const { rateLimiter, apiPool, factorKeys, tokens } = options;
  return [
    open(signUp, async ({ body: { organisation, email, proof_of_work: proof }, request, reply }) => {
      createAccountOf(options);
      for (const [scope, key, limit] of [
        ['sign-up-address', request.countedClient, REQUESTS_BY_ADDRESS],
        ['sign-up-email', mailboxOf(email), REQUESTS_BY_EMAIL],
      ] as const) {
        refuseExcess(await rateLimiter.take(scope, key, limit), 'TOO_MANY_SIGN_IN_ATTEMPTS');
      }
      const { countedNetwork: network } = request;
      const queueMail = mailOf(options, request);
      const token = await turns.take(
        network,
        () => requestSignUp(apiPool, factorKeys, queueMail, { organisation, email, network, proof }),
        goneClient(reply),
      );
      const message =
        token === null ? 'A mail with a link is on its way. Open it to choose a password.' : 'Choose a password.';
      return { message, data: { token } };
    }),
    open(confirmSignUp, async (call) => {
      const createAccount = createAccountOf(options);
      const { body, request } = call;
      const limit = { scope: 'confirm-address', key: request.countedClient, limit: TOKEN_FAILURES_BY_ADDRESS };
      return respondWithTokens(tokens, call, 'Welcome.', () =>
        throttleFailures(rateLimiter, limit, async () => {
          const wanted = await readSignUpToken(factorKeys, body.token, new Date());
          if (wanted === null) throw new ApiError('SIGN_UP_INVALID');
          refuseOwnAddress(body.password, wanted.email, 'password');
          const completed = await rateLimiter.take('sign-up', request.countedClient, COMPLETED_BY_ADDRESS);
          refuseExcess(completed, 'TOO_MANY_SIGN_IN_ATTEMPTS');
          const created = await createAccount(wanted, body.password);
          if (created === null) throw new ApiError('SIGN_UP_INVALID');
          return created;
        }),
      );
    }),
  ];
}

/** @throws ApiError SIGN_UP_CLOSED */
function createAccountOf({ createAccount }: AuthRouteOptions): NonNullable<AuthRouteOptions['createAccount']> {
  if (createAccount === null) throw new ApiError('SIGN_UP_CLOSED');
  return createAccount;
}
