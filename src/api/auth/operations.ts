import {
  AcceptInvitationRequest,
  AuthOptionsResponse,
  ChangePasswordRequest,
  LoginRequest,
  LogoutRequest,
  MeResponse,
  PasswordResetRequestedResponse,
  RefreshRequest,
  RequestPasswordResetRequest,
  ResetPasswordRequest,
  SignInResponse,
  SignInsEndedResponse,
  UserRole,
} from '../../../schemas/api/auth.js';
import { NoBody, None } from '../../../schemas/api/panel/common.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';
import { type Access, AnyQuery, defineOperation, OPEN, type Operation, PANEL_ROLES } from '../server/operation.js';
import { SHOWN_ENDED, SHOWN_TOKENS } from './shown-responses.js';

/** No bearer token; attempts that fail are counted. */
const CREDENTIALS_IN_BODY: Access = { ...OPEN, limit: 'failures' };
const ANY_USER: Access = { ...OPEN, roles: UserRole.options };
const PANEL_USER: Access = { ...OPEN, roles: PANEL_ROLES };

/** The header of a response with the refresh token in a cookie. */
export const COOKIE_HEADER = {
  'Set-Cookie':
    'Only with `"refresh_token_in": "cookie"`: the refresh token, for the browser alone. The body then has none.',
};

const shared = { tag: 'Sign-in', params: None, query: AnyQuery, bodyLimit: 4_096 } as const;

export const login = defineOperation({
  ...shared,
  id: 'login',
  method: 'post',
  path: '/api/v1/auth/login',
  summary: 'Sign in',
  description:
    'Starts a sign-in. It ends when the user signs out, 7 days after its last renewal, and at the latest 30 days after it started. The access token is valid for `expires_in` seconds.',
  access: CREDENTIALS_IN_BODY,
  body: LoginRequest,
  status: 200,
  response: SignInResponse,
  headers: COOKIE_HEADER,
  errors: ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED', 'SECOND_FACTOR_INVALID', 'CROSS_SITE_REQUEST'],
  example: {
    body: { email: EXAMPLE_VALUES.email, password: EXAMPLE_VALUES.password },
    response: SHOWN_TOKENS('Signed in.'),
  },
  action: 'sign_in.start',
});

export const refresh = defineOperation({
  ...shared,
  id: 'refresh',
  method: 'post',
  path: '/api/v1/auth/refresh',
  summary: 'Renew the access token',
  description:
    'A refresh token is valid for one renewal, and the response contains the next one. The same client can repeat it within 10 seconds, and gets the same response. A later second use ends the whole sign-in: store the new token before you continue. A sign-in with `"refresh_token_in": "cookie"` renews with `{"refresh_token_in": "cookie"}` and the cookie; if the sign-in has ended, the response removes the cookie.',
  access: CREDENTIALS_IN_BODY,
  body: RefreshRequest,
  status: 200,
  response: SignInResponse,
  headers: COOKIE_HEADER,
  errors: ['INVALID_BEARER_TOKEN', 'CROSS_SITE_REQUEST'],
  example: { body: { refresh_token: EXAMPLE_VALUES.refreshToken }, response: SHOWN_TOKENS('Renewed.') },
  action: null,
});

export const me = defineOperation({
  ...shared,
  id: 'me',
  method: 'get',
  path: '/api/v1/auth/me',
  summary: 'Get the current user',
  access: PANEL_USER,
  body: NoBody,
  status: 200,
  response: MeResponse,
  errors: [],
  example: {
    response: {
      data: { id: SHOWN.userId, tenant_id: SHOWN.tenantId, email: EXAMPLE_VALUES.panelEmail, role: 'owner' },
    },
  },
  action: null,
});

export const changePassword = defineOperation({
  ...shared,
  id: 'changePassword',
  method: 'post',
  path: '/api/v1/auth/change-password',
  summary: 'Change your password',
  description: 'Ends the other sign-ins of the user; the current one continues.',
  access: { ...PANEL_USER, limit: 'failures' },
  body: ChangePasswordRequest,
  status: 200,
  response: SignInsEndedResponse,
  errors: [],
  example: {
    body: { current_password: EXAMPLE_VALUES.panelPassword, new_password: 'a battery that no horse has stapled' },
    response: SHOWN_ENDED('The password was changed.', 2),
  },
  action: 'user.change_password',
});

export const acceptInvitation = defineOperation({
  ...shared,
  id: 'acceptInvitation',
  method: 'post',
  path: '/api/v1/auth/accept-invitation',
  summary: 'Accept an invitation',
  description:
    'Creates the user with the e-mail address and the role of the invitation and the given password, and signs the user in.',
  access: CREDENTIALS_IN_BODY,
  body: AcceptInvitationRequest,
  status: 201,
  response: SignInResponse,
  headers: COOKIE_HEADER,
  errors: ['INVITATION_INVALID', 'CROSS_SITE_REQUEST'],
  example: {
    body: { token: EXAMPLE_VALUES.invitationToken, password: 'a horse that staples batteries' },
    response: SHOWN_TOKENS('Welcome.', { email: 'new@shop.example', role: 'viewer' }),
  },
  action: 'invitation.accept',
});

export const requestPasswordReset = defineOperation({
  ...shared,
  id: 'requestPasswordReset',
  method: 'post',
  path: '/api/v1/auth/request-password-reset',
  summary: 'Ask for a mail with which a forgotten password is replaced',
  description:
    'The response is the same for every address. A user with this address receives a mail with a reset token, at most one in 15 minutes. 409 MAIL_NOT_CONFIGURED if the service sends no mail.',
  access: CREDENTIALS_IN_BODY,
  body: RequestPasswordResetRequest,
  status: 202,
  response: PasswordResetRequestedResponse,
  errors: ['MAIL_NOT_CONFIGURED'],
  example: {
    body: { email: EXAMPLE_VALUES.panelEmail },
    response: { message: 'If the address has a user, a mail with a link is on its way.' },
  },
  action: 'user.create_password_reset',
});

export const readAuthOptions = defineOperation({
  ...shared,
  id: 'readAuthOptions',
  method: 'get',
  path: '/api/v1/auth/options',
  summary: 'Get the ways to sign in that this installation has',
  description: 'A sign-in page reads it to offer only what works. It needs no credential.',
  access: OPEN,
  body: NoBody,
  status: 200,
  response: AuthOptionsResponse,
  errors: [],
  example: { response: { data: { mail: true, sign_up: 'invite' } } },
  action: null,
});

export const resetPassword = defineOperation({
  ...shared,
  id: 'resetPassword',
  method: 'post',
  path: '/api/v1/auth/reset-password',
  summary: 'Set a password with a reset token',
  description: 'Ends every sign-in of the user.',
  access: CREDENTIALS_IN_BODY,
  body: ResetPasswordRequest,
  status: 200,
  response: SignInsEndedResponse,
  errors: ['PASSWORD_RESET_INVALID'],
  example: {
    body: { token: EXAMPLE_VALUES.passwordResetToken, password: 'a staple that horses do not know' },
    response: SHOWN_ENDED('The password was set. Sign in with it.', 1),
  },
  action: 'user.reset_password',
});

export const logout = defineOperation({
  ...shared,
  id: 'logout',
  method: 'post',
  path: '/api/v1/auth/logout',
  summary: 'Sign out, from one sign-in or from all',
  description:
    'The refresh token is invalid immediately, the access token within a second. With `everywhere`, every sign-in of the user ends.',
  access: ANY_USER,
  body: LogoutRequest,
  status: 200,
  response: SignInsEndedResponse,
  errors: [],
  example: { body: { everywhere: true }, response: SHOWN_ENDED('Signed out.', 1) },
  action: 'sign_in.end',
});

/** Sign-in, sign-out and passwords. */
export const AUTH_OPERATIONS: readonly Operation[] = [
  login,
  refresh,
  me,
  changePassword,
  acceptInvitation,
  requestPasswordReset,
  resetPassword,
  logout,
  readAuthOptions,
];
