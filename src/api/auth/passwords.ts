import {
  AcceptInvitationRequest,
  ChangePasswordRequest,
  PasswordResetRequestedResponse,
  RequestPasswordResetRequest,
  ResetPasswordRequest,
  SignInResponse,
  SignInsEndedResponse,
} from '../../../schemas/api/auth.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { tooManyMails } from '../../accounts/mail/mail-queue.js';
import * as invitations from '../../accounts/sign-in/accept-invitation.js';
import * as passwords from '../../accounts/sign-in/set-password.js';
import { refuseExcess } from '../guards/rate-limiter.js';
import { EXAMPLE_VALUES } from '../server/example-values.js';
import { goneClient } from '../server/gone-client.js';
import { PANEL_ROLES } from '../server/operation.js';
import { countFailures, throttleFailures } from './attempts.js';
import { mailOf, route } from './deps.js';
import { COOKIE_HEADER, clearRefreshCookie, respondWithTokens, SHOWN_ENDED, SHOWN_TOKENS } from './tokens.js';

const shared = { tag: 'Sign-in', bodyLimit: 4_096 } as const;

/** Permitted failures per minute: with tokens from one address, and with the current password of one account. */
const TOKEN_FAILURES_BY_ADDRESS = 30;
const PASSWORD_FAILURES_BY_ACCOUNT = 10;
/** Requests for a new password per minute: from one address, and for one account from any address. */
const RESET_REQUESTS_BY_ADDRESS = 10;
const RESET_REQUESTS_BY_ACCOUNT = 3;

/** The operations that set a password: with the current one, with an invitation, and with a mailed token. */
export const PASSWORD_OPERATIONS = [
  route({
    auth: 'user',
    roles: PANEL_ROLES,
    limit: 'failures',
    ...shared,
    id: 'changePassword',
    method: 'post',
    path: '/api/v1/auth/change-password',
    summary: 'Change your password',
    description: 'Ends the other sign-ins of the user; the current one continues.',
    body: ChangePasswordRequest,
    response: SignInsEndedResponse,
    example: {
      body: { current_password: EXAMPLE_VALUES.panelPassword, new_password: 'a battery that no horse has stapled' },
      response: SHOWN_ENDED('The password was changed.', 2),
    },
    action: 'user.change_password',
    handle: async ({ user, body, request }, deps) => {
      // These failures are counted separately from failed sign-ins: someone who guesses at an account must not keep its
      // user from changing the password.
      const limits = [{ scope: 'password-account', key: user.id, limit: PASSWORD_FAILURES_BY_ACCOUNT }];
      const ended = await countFailures(deps.rateLimiter, limits, async () => {
        const changed = await passwords.changePassword(
          deps.adminPool,
          deps.seals,
          user,
          body.current_password,
          body.new_password,
          mailOf(deps, request),
        );
        if (changed !== null) return changed;
        // Not 401: the access token is valid, and a client would only renew it and retry.
        throw new ApiError('VALIDATION_ERROR', undefined, {
          errors: [{ field: 'current_password', message: 'is not the current password' }],
        });
      });
      return { message: 'The password was changed.', data: { ended_sign_ins: ended } };
    },
  }),
  route({
    auth: 'open',
    limit: 'failures',
    ...shared,
    id: 'acceptInvitation',
    method: 'post',
    path: '/api/v1/auth/accept-invitation',
    summary: 'Accept an invitation',
    description:
      'Creates the user with the e-mail address and the role of the invitation and the given password, and signs the user in.',
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
    handle: async (call, { rateLimiter, tokens, adminPool, seals }) => {
      const { token, password } = call.body;
      const key = call.request.countedClient;
      const limit = { scope: 'invitation-address', key, limit: TOKEN_FAILURES_BY_ADDRESS };
      const grant = async () => {
        const result = await invitations.acceptInvitation(adminPool, seals, token, password);
        if (result === null) throw new ApiError('INVITATION_INVALID');
        return result;
      };
      return respondWithTokens(tokens, call, 'Welcome.', () => throttleFailures(rateLimiter, limit, grant));
    },
  }),
  route({
    auth: 'open',
    limit: 'failures',
    ...shared,
    id: 'requestPasswordReset',
    method: 'post',
    path: '/api/v1/auth/request-password-reset',
    summary: 'Ask for a mail with which a forgotten password is replaced',
    description:
      'The response is the same for every address. A user with this address receives a mail with a reset token, at most one in 15 minutes. 409 MAIL_NOT_CONFIGURED if the service sends no mail.',
    body: RequestPasswordResetRequest,
    status: 202,
    response: PasswordResetRequestedResponse,
    errors: ['MAIL_NOT_CONFIGURED'],
    example: {
      body: { email: EXAMPLE_VALUES.panelEmail },
      response: { message: 'If the address has a user, a mail with a link is on its way.' },
    },
    action: 'user.create_password_reset',
    handle: async ({ body: { email }, request, reply }, deps) => {
      const queueMail = mailOf(deps, request);
      if (queueMail === null) throw new ApiError('MAIL_NOT_CONFIGURED');
      const limits = [
        { scope: 'reset-request-address', key: request.countedClient, limit: RESET_REQUESTS_BY_ADDRESS },
        { scope: 'reset-request-account', key: email, limit: RESET_REQUESTS_BY_ACCOUNT },
      ];
      for (const { scope, key, limit } of limits) {
        refuseExcess(await deps.rateLimiter.take(scope, key, limit), 'TOO_MANY_SIGN_IN_ATTEMPTS');
      }
      // The work is the same for every address; the worker looks up later whether it has a user.
      const isQueued = await deps.turns.take(
        request.countedNetwork,
        () => queueMail(deps.apiPool, { kind: 'reset_request', email }),
        goneClient(reply),
      );
      if (!isQueued) throw tooManyMails();
      return { message: 'If the address has a user, a mail with a link is on its way.' };
    },
  }),
  route({
    auth: 'open',
    limit: 'failures',
    ...shared,
    id: 'resetPassword',
    method: 'post',
    path: '/api/v1/auth/reset-password',
    summary: 'Set a password with a reset token',
    description: 'Ends every sign-in of the user.',
    body: ResetPasswordRequest,
    response: SignInsEndedResponse,
    errors: ['PASSWORD_RESET_INVALID'],
    example: {
      body: { token: EXAMPLE_VALUES.passwordResetToken, password: 'a staple that horses do not know' },
      response: SHOWN_ENDED('The password was set. Sign in with it.', 1),
    },
    action: 'user.reset_password',
    handle: async ({ body: { token, password }, request, reply }, deps) => {
      const limit = { scope: 'password-reset-address', key: request.countedClient, limit: TOKEN_FAILURES_BY_ADDRESS };
      const ended = await throttleFailures(deps.rateLimiter, limit, async () => {
        const result = await passwords.resetPassword(
          deps.adminPool,
          deps.seals,
          token,
          password,
          mailOf(deps, request),
        );
        if (result === null) throw new ApiError('PASSWORD_RESET_INVALID');
        return result;
      });
      clearRefreshCookie(request, reply);
      return { message: 'The password was set. Sign in with it.', data: { ended_sign_ins: ended } };
    },
  }),
];
