import type { FastifyRequest } from 'fastify';
import {
  BeginSecondFactorRequest,
  ConfirmSecondFactorRequest,
  DisableSecondFactorRequest,
  RecoveryCodesResponse,
  RenewRecoveryCodesRequest,
  SecondFactorBegunResponse,
  SecondFactorConfirmedResponse,
  SecondFactorDisabledResponse,
  SecondFactorResponse,
} from '../../../schemas/api/auth.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { PasskeyAssertion } from '../../../schemas/api/passkeys.js';
import { listPasskeys } from '../../accounts/passkeys/list-passkeys.js';
import * as factors from '../../accounts/second-factor/change-factor.js';
import {
  type FactorOptions,
  hasSecondFactor,
  type PresentedFactor,
  proveSecondFactor,
} from '../../accounts/second-factor/prove-factor.js';
import type { User } from '../../accounts/users/user-directory.js';
import { EXAMPLE_VALUES } from '../server/example-values.js';
import { PANEL_ROLES } from '../server/operation.js';
import { countFailures } from './attempts.js';
import { type AuthDeps, mailOf, route } from './deps.js';

const shared = { tag: 'Sign-in', bodyLimit: 4_096 } as const;

/**
 * Wrong codes per minute of one user, from any address. Three of a million codes are valid at a time, so an attacker
 * who knows the password and tries five a minute finds one within a day with a probability of two per cent.
 */
const CODE_FAILURES_BY_ACCOUNT = 5;
const PASSWORD_FAILURES_BY_ACCOUNT = 10;
const WRONG_PROOF = 'is wrong or was used before, or there is no second factor';

interface Proof {
  readonly totp_code?: string | undefined;
  readonly recovery_code?: string | undefined;
  readonly passkey?: PasskeyAssertion | undefined;
}

/** The second factor of panel users. Backends have none. */
export const SECOND_FACTOR_OPERATIONS = [
  route({
    auth: 'user',
    roles: PANEL_ROLES,
    ...shared,
    id: 'readSecondFactor',
    path: '/api/v1/auth/second-factor',
    summary: 'Get the state of your second factor',
    response: SecondFactorResponse,
    example: { response: { data: { enabled_at: null, recovery_codes_left: 0 } } },
    handle: async ({ user, request }, deps) => {
      const factor = factorOptions(deps, request);
      const { enabledAt, recoveryCodesLeft } = await factors.readSecondFactor(factor, user.id);
      return { data: { enabled_at: enabledAt?.toISOString() ?? null, recovery_codes_left: recoveryCodesLeft } };
    },
  }),
  route({
    auth: 'user',
    roles: PANEL_ROLES,
    limit: 'failures',
    ...shared,
    id: 'beginSecondFactor',
    method: 'post',
    path: '/api/v1/auth/second-factor',
    summary: 'Begin an authenticator app, with password and second factor',
    description:
      'Only this response contains the secret. It is required at sign-in once /api/v1/auth/second-factor/confirm has a code of it; until then another request replaces it. A user with a passkey proves the second factor. 422 VALIDATION_ERROR at `current_password`, `totp_code`, `recovery_code` or `passkey` if one is wrong; 409 WRONG_STATE if there is an app.',
    body: BeginSecondFactorRequest,
    status: 201,
    response: SecondFactorBegunResponse,
    errors: ['WRONG_STATE'],
    example: {
      body: { current_password: EXAMPLE_VALUES.panelPassword },
      response: {
        message: 'Enter the secret into an authenticator app, and confirm with a code.',
        data: {
          secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
          otpauth_uri:
            'otpauth://totp/Consent%20Ledger:owner%40shop.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Consent%20Ledger&algorithm=SHA1&digits=6&period=30',
        },
      },
    },
    handle: async ({ user, body, request }, deps) => {
      await checkPassword(deps, user, body.current_password);
      const { secret, otpauthUri } = await countFailures(deps.rateLimiter, codeLimits(user), async () => {
        const begun = await factors.beginSecondFactor(factorOptions(deps, request), user, presented(body));
        if (begun === null) throw wrongProof(body);
        return begun;
      });
      return {
        message: 'Enter the secret into an authenticator app, and confirm with a code.',
        data: { secret, otpauth_uri: otpauthUri },
      };
    },
  }),
  route({
    auth: 'user',
    roles: PANEL_ROLES,
    limit: 'failures',
    ...shared,
    id: 'confirmSecondFactor',
    method: 'post',
    path: '/api/v1/auth/second-factor/confirm',
    summary: 'Put the second factor in force with its first code',
    description:
      'Returns ten recovery codes once; those of a passkey stay. 422 VALIDATION_ERROR at `totp_code` if the code is wrong; 409 WRONG_STATE if none was begun, or if a passkey was added since.',
    body: ConfirmSecondFactorRequest,
    response: SecondFactorConfirmedResponse,
    errors: ['WRONG_STATE'],
    example: {
      body: { totp_code: '492039' },
      response: {
        message: 'The second factor is in force.',
        data: { recovery_codes: ['k3v6zq-7hx2mt', 'p5b4ua-yd7nw2'] },
      },
    },
    action: 'user.enable_second_factor',
    handle: async ({ user, body, request }, deps) => {
      const { recoveryCodes } = await countFailures(deps.rateLimiter, codeLimits(user), async () => {
        const confirmed = await factors.confirmSecondFactor(factorOptions(deps, request), user, body.totp_code);
        if (confirmed === null) throw wrong('totp_code', 'is not a current code of the secret');
        return confirmed;
      });
      return {
        message: 'The second factor is in force.',
        data: { recovery_codes: recoveryCodes && [...recoveryCodes] },
      };
    },
  }),
  route({
    auth: 'user',
    roles: PANEL_ROLES,
    limit: 'failures',
    ...shared,
    id: 'renewRecoveryCodes',
    method: 'post',
    path: '/api/v1/auth/second-factor/recovery-codes',
    summary: 'Replace your recovery codes, with password and second factor',
    description:
      'Returns ten recovery codes once; those before become invalid. 422 VALIDATION_ERROR at `current_password`, `totp_code` or `passkey` if one is wrong.',
    body: RenewRecoveryCodesRequest,
    response: RecoveryCodesResponse,
    example: {
      body: { current_password: EXAMPLE_VALUES.panelPassword, totp_code: '492039' },
      response: {
        message: 'The recovery codes were replaced.',
        data: { recovery_codes: ['k3v6zq-7hx2mt', 'p5b4ua-yd7nw2'] },
      },
    },
    action: 'user.renew_recovery_codes',
    handle: async ({ user, body, request }, deps) => {
      await checkPassword(deps, user, body.current_password);
      const codes = await countFailures(deps.rateLimiter, codeLimits(user), async () => {
        const renewed = await factors.renewRecoveryCodes(factorOptions(deps, request), user, presented(body));
        if (renewed === null) throw wrongProof(body);
        return renewed;
      });
      return { message: 'The recovery codes were replaced.', data: { recovery_codes: [...codes] } };
    },
  }),
  route({
    auth: 'user',
    roles: PANEL_ROLES,
    limit: 'failures',
    ...shared,
    id: 'disableSecondFactor',
    method: 'post',
    path: '/api/v1/auth/second-factor/disable',
    summary: 'Remove your authenticator app, with password and second factor',
    description:
      'Passkeys stay, and with them the recovery codes. 422 VALIDATION_ERROR at `current_password`, `totp_code`, `recovery_code` or `passkey` if one is wrong.',
    body: DisableSecondFactorRequest,
    response: SecondFactorDisabledResponse,
    example: {
      body: { current_password: EXAMPLE_VALUES.panelPassword, totp_code: '492039' },
      response: { message: 'The authenticator app was removed.', data: { enabled_at: null } },
    },
    action: 'user.disable_second_factor',
    handle: async ({ user, body, request }, deps) => {
      await checkPassword(deps, user, body.current_password);
      await countFailures(deps.rateLimiter, codeLimits(user), async () => {
        if (await factors.disableSecondFactor(factorOptions(deps, request), user, presented(body))) return;
        throw wrongProof(body);
      });
      return { message: 'The authenticator app was removed.', data: { enabled_at: null } };
    },
  }),
];

/**
 * Checks the second factor of a user whose password was right.
 * @returns null if the user has none or proves it; otherwise the credential ids of the passkeys that could prove it
 * @throws ApiError SECOND_FACTOR_INVALID, TOO_MANY_SIGN_IN_ATTEMPTS
 */
export async function missingSecondFactor(
  options: AuthDeps,
  request: FastifyRequest,
  user: User,
  proof: Proof,
): Promise<readonly string[] | null> {
  const factor = factorOptions(options, request);
  if (!(await hasSecondFactor(factor, user.id))) return null;
  if ((proof.totp_code ?? proof.recovery_code ?? proof.passkey) === undefined) {
    return (await listPasskeys(factor.db, user.id)).map(({ credentialId }) => credentialId);
  }
  await countFailures(options.rateLimiter, codeLimits(user), async () => {
    if (!(await proveSecondFactor(factor, user, presented(proof)))) throw new ApiError('SECOND_FACTOR_INVALID');
  });
  return null;
}

/** Checks the password of a signed-in user. @throws ApiError VALIDATION_ERROR, TOO_MANY_SIGN_IN_ATTEMPTS */
export async function checkPassword(
  { rateLimiter, checkPassword: check }: AuthDeps,
  user: User,
  password: string,
): Promise<void> {
  const limits = [{ scope: 'password-account', key: user.id, limit: PASSWORD_FAILURES_BY_ACCOUNT }];
  await countFailures(rateLimiter, limits, async () => {
    if ((await check(user.email, password)) === null) throw wrong('current_password', 'is not the current password');
  });
}

export function factorOptions(options: AuthDeps, request: FastifyRequest): FactorOptions {
  const { adminPool: db, factorKeys: keys, relyingParty } = options;
  return { db, keys, relyingParty, queueMail: mailOf(options, request), nowSeconds: () => Date.now() / 1000 };
}

export const codeLimits = ({ id }: User) => [{ scope: 'second-factor', key: id, limit: CODE_FAILURES_BY_ACCOUNT }];

export function presented({ totp_code: totpCode, recovery_code: recoveryCode, passkey }: Proof): PresentedFactor {
  return { totpCode, recoveryCode, passkey };
}

/** The refusal of a second factor of a signed-in user. */
export function wrongProof(proof: Proof): ApiError {
  const given = (['totp_code', 'recovery_code', 'passkey'] as const).find((name) => proof[name] !== undefined);
  if (given === undefined) return wrong('totp_code', 'is required, unless recovery_code or passkey is given');
  return wrong(given, WRONG_PROOF);
}

/** Not 401: the access token is valid, and a client would only renew it and retry. */
export function wrong(field: string, message: string): ApiError {
  return new ApiError('VALIDATION_ERROR', undefined, { errors: [{ field, message }] });
}
