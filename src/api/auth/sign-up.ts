import {
  ConfirmSignUpRequest,
  SignInResponse,
  SignUpRequest,
  SignUpRequestedResponse,
} from '../../../schemas/api/auth.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { refuseOwnAddress } from '../../accounts/credentials/credentials.js';
import { mailboxOf, readSignUpToken, requestSignUp } from '../../accounts/sign-up/request-sign-up.js';
import { refuseExcess } from '../guards/rate-limiter.js';
import { EXAMPLE_VALUES } from '../server/example-values.js';
import { goneClient } from '../server/gone-client.js';
import { throttleFailures } from './attempts.js';
import { type AuthDeps, mailOf, route } from './deps.js';
import { COOKIE_HEADER, respondWithTokens, SHOWN_TOKENS } from './tokens.js';

const shared = { tag: 'Sign-in', bodyLimit: 4_096 } as const;

/**
 * Limits per minute: requests from one network address, completed sign-ups from one, and requests for one e-mail
 * address.
 */
const REQUESTS_BY_ADDRESS = 10;
const REQUESTS_BY_EMAIL = 5;
const COMPLETED_BY_ADDRESS = 5;
const TOKEN_FAILURES_BY_ADDRESS = 30;

/** The operations of sign-up, which the operator has to enable. */
export const SIGN_UP_OPERATIONS = [
  route({
    auth: 'open',
    limit: 'failures',
    ...shared,
    id: 'signUp',
    method: 'post',
    path: '/api/v1/auth/sign-up',
    summary: 'Ask for an organisation and its first owner',
    description:
      'The response is the same for every e-mail address, and nothing is created yet. A service that sends mail delivers the token to the address, and `token` is null; otherwise the response contains it. GET /api/v1/auth/options says whether sign-up is open.',
    body: SignUpRequest,
    status: 202,
    response: SignUpRequestedResponse,
    errors: ['SIGN_UP_CLOSED', 'PROOF_OF_WORK_REQUIRED'],
    example: {
      body: { organisation: 'Example Shop Ltd', email: EXAMPLE_VALUES.panelEmail },
      response: { message: 'A mail with a link is on its way. Open it to choose a password.', data: { token: null } },
    },
    handle: async ({ body: { organisation, email, proof_of_work: proof }, request, reply }, deps) => {
      createAccountOf(deps);
      for (const [scope, key, limit] of [
        ['sign-up-address', request.countedClient, REQUESTS_BY_ADDRESS],
        ['sign-up-email', mailboxOf(email), REQUESTS_BY_EMAIL],
      ] as const) {
        refuseExcess(await deps.rateLimiter.take(scope, key, limit), 'TOO_MANY_SIGN_IN_ATTEMPTS');
      }
      const { countedNetwork: network } = request;
      const queueMail = mailOf(deps, request);
      const token = await deps.turns.take(
        network,
        () => requestSignUp(deps.apiPool, deps.factorKeys, queueMail, { organisation, email, network, proof }),
        goneClient(reply),
      );
      const message =
        token === null ? 'A mail with a link is on its way. Open it to choose a password.' : 'Choose a password.';
      return { message, data: { token } };
    },
  }),
  route({
    auth: 'open',
    limit: 'failures',
    ...shared,
    id: 'confirmSignUp',
    method: 'post',
    path: '/api/v1/auth/confirm-sign-up',
    summary: 'Create the organisation and its owner with the token of a sign-up',
    description:
      'Creates the tenant with the standard plan and the owner with the given password, and signs the owner in. The token is valid for 24 hours, and once.',
    body: ConfirmSignUpRequest,
    status: 201,
    response: SignInResponse,
    headers: COOKIE_HEADER,
    errors: ['SIGN_UP_CLOSED', 'SIGN_UP_INVALID', 'CROSS_SITE_REQUEST'],
    example: {
      body: { token: 'cls_AXq2c3J1', password: 'a horse that staples batteries' },
      response: SHOWN_TOKENS('Welcome.', { email: EXAMPLE_VALUES.panelEmail, role: 'owner' }),
    },
    action: 'tenant.sign_up',
    handle: async (call, deps) => {
      const createAccount = createAccountOf(deps);
      const { body, request } = call;
      const limit = { scope: 'confirm-address', key: request.countedClient, limit: TOKEN_FAILURES_BY_ADDRESS };
      return respondWithTokens(deps.tokens, call, 'Welcome.', () =>
        throttleFailures(deps.rateLimiter, limit, async () => {
          const wanted = await readSignUpToken(deps.factorKeys, body.token, new Date());
          if (wanted === null) throw new ApiError('SIGN_UP_INVALID');
          refuseOwnAddress(body.password, wanted.email, 'password');
          const completed = await deps.rateLimiter.take('sign-up', request.countedClient, COMPLETED_BY_ADDRESS);
          refuseExcess(completed, 'TOO_MANY_SIGN_IN_ATTEMPTS');
          const created = await createAccount(wanted, body.password);
          if (created === null) throw new ApiError('SIGN_UP_INVALID');
          return created;
        }),
      );
    },
  }),
];

/** @throws ApiError SIGN_UP_CLOSED */
function createAccountOf({ createAccount }: AuthDeps): NonNullable<AuthDeps['createAccount']> {
  if (createAccount === null) throw new ApiError('SIGN_UP_CLOSED');
  return createAccount;
}
