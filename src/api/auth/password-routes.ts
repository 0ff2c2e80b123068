import type { FastifyInstance } from 'fastify';
import {
  AcceptInvitationRequest,
  ChangePasswordRequest,
  ResetPasswordRequest,
  type SignInsEndedResponse,
  type TokensResponse,
} from '../../../schemas/api/auth.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { acceptInvitation } from '../../accounts/sign-in/accept-invitation.js';
import { changePassword, resetPassword } from '../../accounts/sign-in/set-password.js';
import { authenticatePanelUser } from '../guards/bearer.js';
import { parseJsonBody, validate } from '../server/json-body.js';
import { addressKey, countFailures, throttleFailures } from './attempts.js';
import { AUTH_BODY_LIMIT, type AuthRouteDeps } from './auth-deps.js';
import { tokensResponse } from './tokens-response.js';

/** Failures a minute: of tokens from one address, and of the current password of one account. */
const TOKEN_FAILURES_BY_ADDRESS = 30;
const PASSWORD_FAILURES_BY_ACCOUNT = 10;

/** POST /api/v1/auth/change-password, /accept-invitation, /reset-password */
export function passwordRoutes(scope: FastifyInstance, deps: AuthRouteDeps): void {
  const { rateLimiter, adminPool } = deps;
  const options = { bodyLimit: AUTH_BODY_LIMIT };

  scope.post('/api/v1/auth/change-password', options, async (request): Promise<SignInsEndedResponse> => {
    const user = await authenticatePanelUser(deps, request.headers.authorization);
    const body = validate(ChangePasswordRequest, parseJsonBody(request.rawBody));
    // Not counted with failed sign-ins: whoever guesses at an account must not keep its user from changing the password.
    const limits = [{ scope: 'password-account', key: user.id, limit: PASSWORD_FAILURES_BY_ACCOUNT }];
    const ended = await countFailures(rateLimiter, limits, async () => {
      const changed = await changePassword(adminPool, user, body.current_password, body.new_password);
      if (changed !== null) return changed;
      // Not 401: the access token is good, and clients would renew it and try again.
      throw new ApiError('VALIDATION_ERROR', undefined, {
        errors: [{ field: 'current_password', message: 'is not the current password' }],
      });
    });
    return { message: 'The password was changed.', data: { ended_sign_ins: ended } };
  });

  scope.post('/api/v1/auth/accept-invitation', options, async (request, reply): Promise<TokensResponse> => {
    const { token, password } = validate(AcceptInvitationRequest, parseJsonBody(request.rawBody));
    const limit = { scope: 'invitation-address', key: addressKey(request), limit: TOKEN_FAILURES_BY_ADDRESS };
    const accepted = await throttleFailures(rateLimiter, limit, async () => {
      const result = await acceptInvitation(adminPool, token, password);
      if (result === null) throw new ApiError('INVITATION_INVALID');
      return result;
    });
    reply.code(201);
    return tokensResponse(deps.tokens, accepted.user, accepted.refreshToken, 'Welcome.');
  });

  scope.post('/api/v1/auth/reset-password', options, async (request): Promise<SignInsEndedResponse> => {
    const { token, password } = validate(ResetPasswordRequest, parseJsonBody(request.rawBody));
    const limit = { scope: 'password-reset-address', key: addressKey(request), limit: TOKEN_FAILURES_BY_ADDRESS };
    const ended = await throttleFailures(rateLimiter, limit, async () => {
      const result = await resetPassword(adminPool, token, password);
      if (result === null) throw new ApiError('PASSWORD_RESET_INVALID');
      return result;
    });
    return { message: 'The password is set. Sign in with it.', data: { ended_sign_ins: ended } };
  });
}
