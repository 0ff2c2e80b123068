import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import * as factors from '../../accounts/second-factor/change-factor.js';
import { type FactorOptions, hasSecondFactor, proveSecondFactor } from '../../accounts/second-factor/prove-factor.js';
import type { User } from '../../accounts/users/user-directory.js';
import { countFailures } from './attempts.js';
import { type AuthRouteOptions, mailOf } from './auth-deps.js';
import { type AuthRoute, signedIn } from './route.js';
import {
  beginSecondFactor,
  confirmSecondFactor,
  disableSecondFactor,
  readSecondFactor,
  renewRecoveryCodes,
} from './second-factor-operations.js';

/**
 * Wrong codes a minute of one user from any address. Three codes of a million count at a time: with
 * the password known, five a minute find one in a day with a probability of two per cent.
 */
const CODE_FAILURES_BY_ACCOUNT = 5;
const PASSWORD_FAILURES_BY_ACCOUNT = 10;
const WRONG_CODE = 'is wrong or was used before, or there is no second factor';

interface Codes {
  readonly totp_code?: string | undefined;
  readonly recovery_code?: string | undefined;
}

/**
 * Checks the second factor of a user whose password was right.
 * @returns false if the user has one, and the request has no code
 * @throws ApiError SECOND_FACTOR_INVALID, TOO_MANY_SIGN_IN_ATTEMPTS
 */
export async function passesSecondFactor(
  options: AuthRouteOptions,
  request: FastifyRequest,
  user: User,
  codes: Codes,
): Promise<boolean> {
  const factor = factorOptions(options, request);
  if (!(await hasSecondFactor(factor, user.id))) return true;
  if (codes.totp_code === undefined && codes.recovery_code === undefined) return false;
  await countFailures(options.rateLimiter, codeLimits(user), async () => {
    if (!(await proveSecondFactor(factor, user, presented(codes)))) throw new ApiError('SECOND_FACTOR_INVALID');
  });
  return true;
}

/** GET, POST /api/v1/auth/second-factor, POST /confirm and /disable below it */
export function secondFactorRoutes(options: AuthRouteOptions): readonly AuthRoute[] {
  const { rateLimiter } = options;
  const checkPassword = async (user: User, password: string): Promise<void> => {
    const limits = [{ scope: 'password-account', key: user.id, limit: PASSWORD_FAILURES_BY_ACCOUNT }];
    await countFailures(rateLimiter, limits, async () => {
      if ((await options.checkPassword(user.email, password)) === null) {
        throw wrong('current_password', 'is not the current password');
      }
    });
  };
  return [
    signedIn(readSecondFactor, async ({ user, request }) => {
      const factor = factorOptions(options, request);
      const { enabledAt, recoveryCodesLeft } = await factors.readSecondFactor(factor, user.id);
      return { data: { enabled_at: enabledAt?.toISOString() ?? null, recovery_codes_left: recoveryCodesLeft } };
    }),
    signedIn(beginSecondFactor, async ({ user, body, request }) => {
      await checkPassword(user, body.current_password);
      const { secret, otpauthUri } = await factors.beginSecondFactor(factorOptions(options, request), user);
      return {
        message: 'Enter the secret into an authenticator app, and confirm with a code.',
        data: { secret, otpauth_uri: otpauthUri },
      };
    }),
    signedIn(confirmSecondFactor, async ({ user, body, request }) => {
      const codes = await countFailures(rateLimiter, codeLimits(user), async () => {
        const confirmed = await factors.confirmSecondFactor(factorOptions(options, request), user, body.totp_code);
        if (confirmed === null) throw wrong('totp_code', 'is not a current code of the secret');
        return confirmed;
      });
      return { message: 'The second factor is in force.', data: { recovery_codes: [...codes] } };
    }),
    signedIn(renewRecoveryCodes, async ({ user, body, request }) => {
      await checkPassword(user, body.current_password);
      const codes = await countFailures(rateLimiter, codeLimits(user), async () => {
        const renewed = await factors.renewRecoveryCodes(factorOptions(options, request), user, body.totp_code);
        if (renewed === null) throw wrong('totp_code', WRONG_CODE);
        return renewed;
      });
      return { message: 'The recovery codes were replaced.', data: { recovery_codes: [...codes] } };
    }),
    signedIn(disableSecondFactor, async ({ user, body, request }) => {
      await checkPassword(user, body.current_password);
      await countFailures(rateLimiter, codeLimits(user), async () => {
        if (await factors.disableSecondFactor(factorOptions(options, request), user, presented(body))) return;
        throw wrong(body.totp_code === undefined ? 'recovery_code' : 'totp_code', WRONG_CODE);
      });
      return { message: 'The second factor was removed.', data: { enabled_at: null } };
    }),
  ];
}

function factorOptions(options: AuthRouteOptions, request: FastifyRequest): FactorOptions {
  const { adminPool: db, factorKeys: keys } = options;
  return { db, keys, queueMail: mailOf(options, request), nowSeconds: () => Date.now() / 1000 };
}

const codeLimits = ({ id }: User) => [{ scope: 'second-factor', key: id, limit: CODE_FAILURES_BY_ACCOUNT }];

function presented({ totp_code: totpCode, recovery_code: recoveryCode }: Codes) {
  return { totpCode, recoveryCode };
}

/** Not 401: the access token is valid, and clients would renew it and try again. */
function wrong(field: string, message: string): ApiError {
  return new ApiError('VALIDATION_ERROR', undefined, { errors: [{ field, message }] });
}
