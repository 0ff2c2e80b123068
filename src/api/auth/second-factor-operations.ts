import {
  BeginSecondFactorRequest,
  ConfirmSecondFactorRequest,
  DisableSecondFactorRequest,
  RenewRecoveryCodesRequest,
  SecondFactorBegunResponse,
  SecondFactorConfirmedResponse,
  SecondFactorDisabledResponse,
  SecondFactorResponse,
} from '../../../schemas/api/auth.js';
import { NoBody, None } from '../../../schemas/api/panel/common.js';
import { EXAMPLE_VALUES } from '../server/example-values.js';
import { type Access, AnyQuery, defineOperation, OPEN, type Operation, PANEL_ROLES } from '../server/operation.js';

const PANEL_USER: Access = { ...OPEN, roles: PANEL_ROLES };

const shared = { tag: 'Sign-in', params: None, query: AnyQuery, bodyLimit: 4_096 } as const;

export const readSecondFactor = defineOperation({
  ...shared,
  id: 'readSecondFactor',
  method: 'get',
  path: '/api/v1/auth/second-factor',
  summary: 'Get the state of your second factor',
  access: PANEL_USER,
  body: NoBody,
  status: 200,
  response: SecondFactorResponse,
  errors: [],
  example: { response: { data: { enabled_at: null, recovery_codes_left: 0 } } },
  action: null,
});

export const beginSecondFactor = defineOperation({
  ...shared,
  id: 'beginSecondFactor',
  method: 'post',
  path: '/api/v1/auth/second-factor',
  summary: 'Begin a second factor with an authenticator app',
  description:
    'Only this response contains the secret. It is required at sign-in once /api/v1/auth/second-factor/confirm has a code of it; until then another request replaces it.',
  access: { ...PANEL_USER, limit: 'failures' },
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
  action: null,
});

export const confirmSecondFactor = defineOperation({
  ...shared,
  id: 'confirmSecondFactor',
  method: 'post',
  path: '/api/v1/auth/second-factor/confirm',
  summary: 'Put the second factor in force with its first code',
  description: 'Returns ten recovery codes once. 422 VALIDATION_ERROR at `totp_code` if the code is wrong.',
  access: { ...PANEL_USER, limit: 'failures' },
  body: ConfirmSecondFactorRequest,
  status: 200,
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
});

export const renewRecoveryCodes = defineOperation({
  ...shared,
  id: 'renewRecoveryCodes',
  method: 'post',
  path: '/api/v1/auth/second-factor/recovery-codes',
  summary: 'Replace your recovery codes, with password and code',
  description:
    'Returns ten recovery codes once; those before become invalid. 422 VALIDATION_ERROR at `current_password` or `totp_code` if one is wrong.',
  access: { ...PANEL_USER, limit: 'failures' },
  body: RenewRecoveryCodesRequest,
  status: 200,
  response: SecondFactorConfirmedResponse,
  errors: [],
  example: {
    body: { current_password: EXAMPLE_VALUES.panelPassword, totp_code: '492039' },
    response: {
      message: 'The recovery codes were replaced.',
      data: { recovery_codes: ['k3v6zq-7hx2mt', 'p5b4ua-yd7nw2'] },
    },
  },
  action: 'user.renew_recovery_codes',
});

export const disableSecondFactor = defineOperation({
  ...shared,
  id: 'disableSecondFactor',
  method: 'post',
  path: '/api/v1/auth/second-factor/disable',
  summary: 'Remove your second factor, with password and code',
  description: '422 VALIDATION_ERROR at `current_password` or `totp_code` if one is wrong.',
  access: { ...PANEL_USER, limit: 'failures' },
  body: DisableSecondFactorRequest,
  status: 200,
  response: SecondFactorDisabledResponse,
  errors: [],
  example: {
    body: { current_password: EXAMPLE_VALUES.panelPassword, totp_code: '492039' },
    response: { message: 'The second factor was removed.', data: { enabled_at: null } },
  },
  action: 'user.disable_second_factor',
});

/** The second factor of panel users. Backends have none. */
export const SECOND_FACTOR_OPERATIONS: readonly Operation[] = [
  readSecondFactor,
  beginSecondFactor,
  confirmSecondFactor,
  renewRecoveryCodes,
  disableSecondFactor,
];
