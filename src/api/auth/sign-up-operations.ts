import {
  ConfirmSignUpRequest,
  SignInResponse,
  SignUpRequest,
  SignUpRequestedResponse,
} from '../../../schemas/api/auth.js';
import { None } from '../../../schemas/api/panel/common.js';
import { EXAMPLE_VALUES } from '../server/example-values.js';
import { type Access, AnyQuery, defineOperation, OPEN, type Operation } from '../server/operation.js';
import { COOKIE_HEADER } from './operations.js';
import { SHOWN_TOKENS } from './shown-responses.js';

const CREDENTIALS_IN_BODY: Access = { ...OPEN, limit: 'failures' };

const shared = {
  tag: 'Sign-in',
  params: None,
  query: AnyQuery,
  bodyLimit: 4_096,
  access: CREDENTIALS_IN_BODY,
} as const;

export const signUp = defineOperation({
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
  action: null,
});

export const confirmSignUp = defineOperation({
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
});

/** Sign-up, where the operator opened it. */
export const SIGN_UP_OPERATIONS: readonly Operation[] = [signUp, confirmSignUp];
