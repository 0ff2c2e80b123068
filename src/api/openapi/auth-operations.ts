import { WITH_BODY } from './error-groups.js';
import type { Operation } from './operation.js';
import { SHOWN_ENDED, SHOWN_TOKENS } from './shown-responses.js';
import { EXAMPLE_VALUES, SHOWN } from './values.js';

/** Sign-in, sign-out and passwords. */
export const AUTH_OPERATIONS: readonly Operation[] = [
  {
    id: 'login',
    method: 'post',
    path: '/api/v1/auth/login',
    summary: 'Obtain a JWT',
    description:
      'Begins a sign-in: it ends by signing out, 7 days after its last renewal, and 30 days after it began. The access token holds for `expires_in` seconds.',
    access: 'none',
    body: 'LoginRequest',
    status: 200,
    response: 'TokensResponse',
    errors: [...WITH_BODY, 'INVALID_CREDENTIALS', 'TOO_MANY_SIGN_IN_ATTEMPTS'],
    example: {
      body: { email: EXAMPLE_VALUES.email, password: EXAMPLE_VALUES.password },
      response: SHOWN_TOKENS('Signed in.'),
    },
  },
  {
    id: 'refresh',
    method: 'post',
    path: '/api/v1/auth/refresh',
    summary: 'Renew a JWT',
    description:
      'A refresh token is good for one renewal, which answers with the next. One that comes a second time ends the whole sign-in: keep the new one before you go on, and let one process at a time renew.',
    access: 'none',
    body: 'RefreshRequest',
    status: 200,
    response: 'TokensResponse',
    errors: [...WITH_BODY, 'INVALID_BEARER_TOKEN', 'TOO_MANY_SIGN_IN_ATTEMPTS'],
    example: { body: { refresh_token: EXAMPLE_VALUES.refreshToken }, response: SHOWN_TOKENS('Renewed.') },
  },
  {
    id: 'me',
    method: 'get',
    path: '/api/v1/auth/me',
    summary: 'Current panel user',
    access: 'bearer',
    status: 200,
    response: 'MeResponse',
    errors: [],
    example: {
      response: {
        data: { id: SHOWN.userId, tenant_id: SHOWN.tenantId, email: EXAMPLE_VALUES.panelEmail, role: 'owner' },
      },
    },
  },
  {
    id: 'changePassword',
    method: 'post',
    path: '/api/v1/auth/change-password',
    summary: 'Change the own password',
    description: 'Ends the user’s other sign-ins; the one that asks goes on.',
    access: 'bearer',
    body: 'ChangePasswordRequest',
    status: 200,
    response: 'SignInsEndedResponse',
    errors: [...WITH_BODY, 'TOO_MANY_SIGN_IN_ATTEMPTS'],
    example: {
      body: { current_password: EXAMPLE_VALUES.panelPassword, new_password: 'a battery that no horse has stapled' },
      response: SHOWN_ENDED('The password was changed.', 2),
    },
  },
  {
    id: 'acceptInvitation',
    method: 'post',
    path: '/api/v1/auth/accept-invitation',
    summary: 'Become a user, with an invitation',
    description:
      'Makes the user, with the address and the role of the invitation and the password given, and signs in.',
    access: 'none',
    body: 'AcceptInvitationRequest',
    status: 201,
    response: 'TokensResponse',
    errors: [...WITH_BODY, 'INVITATION_INVALID', 'TOO_MANY_SIGN_IN_ATTEMPTS'],
    example: {
      body: { token: EXAMPLE_VALUES.invitationToken, password: 'a horse that staples batteries' },
      response: SHOWN_TOKENS('Welcome.', { email: 'new@shop.example', role: 'viewer' }),
    },
  },
  {
    id: 'resetPassword',
    method: 'post',
    path: '/api/v1/auth/reset-password',
    summary: 'Set a password, with a reset token',
    description: 'Ends every sign-in of the user.',
    access: 'none',
    body: 'ResetPasswordRequest',
    status: 200,
    response: 'SignInsEndedResponse',
    errors: [...WITH_BODY, 'PASSWORD_RESET_INVALID', 'TOO_MANY_SIGN_IN_ATTEMPTS'],
    example: {
      body: { token: EXAMPLE_VALUES.passwordResetToken, password: 'a staple that horses do not know' },
      response: SHOWN_ENDED('The password is set. Sign in with it.', 1),
    },
  },
  {
    id: 'logout',
    method: 'post',
    path: '/api/v1/auth/logout',
    summary: 'Sign out, here or everywhere',
    description:
      'The refresh token is void at once, the access token within a second. With `everywhere` every sign-in of the user ends.',
    access: 'bearer',
    body: 'LogoutRequest',
    isBodyOptional: true,
    status: 200,
    response: 'SignInsEndedResponse',
    errors: WITH_BODY,
    example: { body: { everywhere: true }, response: SHOWN_ENDED('Signed out.', 1) },
  },
];
