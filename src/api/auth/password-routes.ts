import { ApiError } from '../../../schemas/api/error-codes.js';
import { tooManyMails } from '../../accounts/mail/mail-queue.js';
import * as invitations from '../../accounts/sign-in/accept-invitation.js';
import * as passwords from '../../accounts/sign-in/set-password.js';
import type { FairTurns } from '../guards/fair-turns.js';
import { refuseExcess } from '../guards/rate-limit.js';
import { goneClient } from '../server/gone-client.js';
import { countFailures, throttleFailures } from './attempts.js';
import { type AuthRouteOptions, mailOf } from './auth-deps.js';
import { acceptInvitation, changePassword, requestPasswordReset, resetPassword } from './operations.js';
import { clearRefreshCookie } from './refresh-cookie.js';
import { type AuthRoute, open, signedIn } from './route.js';
import { respondWithTokens } from './tokens-response.js';

/** Failures a minute: of tokens from one address, and of the current password of one account. */
const TOKEN_FAILURES_BY_ADDRESS = 30;
const PASSWORD_FAILURES_BY_ACCOUNT = 10;
/** Requests of a new password a minute: from one address, and for one account from any address. */
const RESET_REQUESTS_BY_ADDRESS = 10;
const RESET_REQUESTS_BY_ACCOUNT = 3;

/**
 * POST /api/v1/auth/change-password, /accept-invitation, /request-password-reset, /reset-password
 * @param turns turns of networks
 */
export function passwordRoutes(options: AuthRouteOptions, turns: FairTurns): readonly AuthRoute[] {
  const { rateLimiter, adminPool, seals, tokens } = options;
  return [
    signedIn(changePassword, async ({ user, body, request }) => {
      // Separate from failed sign-ins: guesses at an account must not keep its user from changing
      // the password.
      const limits = [{ scope: 'password-account', key: user.id, limit: PASSWORD_FAILURES_BY_ACCOUNT }];
      const ended = await countFailures(rateLimiter, limits, async () => {
        const changed = await passwords.changePassword(
          adminPool,
          seals,
          user,
          body.current_password,
          body.new_password,
          mailOf(options, request),
        );
        if (changed !== null) return changed;
        // Not 401: the access token is valid, and clients would renew it and try again.
        throw new ApiError('VALIDATION_ERROR', undefined, {
          errors: [{ field: 'current_password', message: 'is not the current password' }],
        });
      });
      return { message: 'The password was changed.', data: { ended_sign_ins: ended } };
    }),
    open(acceptInvitation, async (call) => {
      const { token, password } = call.body;
      const key = call.request.countedClient;
      const limit = { scope: 'invitation-address', key, limit: TOKEN_FAILURES_BY_ADDRESS };
      const grant = async () => {
        const result = await invitations.acceptInvitation(adminPool, seals, token, password);
        if (result === null) throw new ApiError('INVITATION_INVALID');
        return result;
      };
      return respondWithTokens(tokens, call, 'Welcome.', () => throttleFailures(rateLimiter, limit, grant));
    }),
    open(requestPasswordReset, async ({ body: { email }, request, reply }) => {
      const queueMail = mailOf(options, request);
      if (queueMail === null) throw new ApiError('MAIL_NOT_CONFIGURED');
      const limits = [
        { scope: 'reset-request-address', key: request.countedClient, limit: RESET_REQUESTS_BY_ADDRESS },
        { scope: 'reset-request-account', key: email, limit: RESET_REQUESTS_BY_ACCOUNT },
      ];
      for (const { scope, key, limit } of limits) {
        refuseExcess(await rateLimiter.take(scope, key, limit), 'TOO_MANY_SIGN_IN_ATTEMPTS');
      }
      // The same work for every address: the worker looks up whether it has a user.
      const isQueued = await turns.take(
        request.countedNetwork,
        () => queueMail(options.apiPool, { kind: 'reset_request', email }),
        goneClient(reply),
      );
      if (!isQueued) throw tooManyMails();
      return { message: 'If the address has a user, a mail with a link is on its way.' };
    }),
    open(resetPassword, async ({ body: { token, password }, request, reply }) => {
      const limit = { scope: 'password-reset-address', key: request.countedClient, limit: TOKEN_FAILURES_BY_ADDRESS };
      const ended = await throttleFailures(rateLimiter, limit, async () => {
        const result = await passwords.resetPassword(adminPool, seals, token, password, mailOf(options, request));
        if (result === null) throw new ApiError('PASSWORD_RESET_INVALID');
        return result;
      });
      clearRefreshCookie(request, reply);
      return { message: 'The password was set. Sign in with it.', data: { ended_sign_ins: ended } };
    }),
  ];
}
