import * as z from 'zod';
import { PROOF } from '../crypto/proof-of-work.js';
import { Uuid } from '../evidence/primitives.js';
import { NewPassword } from './new-password.js';
import { displayName } from './panel/common.js';
import { PasskeyAssertion } from './passkeys.js';

/** Role of a user. An `api_user` can use only the S2S API. */
export const UserRole = z.enum(['owner', 'admin', 'dpo', 'viewer', 'api_user']);
export type UserRole = z.infer<typeof UserRole>;

const GivenPassword = z.string().min(1).max(200).describe('The current password.');
const NEW_PASSWORD =
  'The new password. It must not be one of the most common passwords, the e-mail address, only spaces, or one to four characters repeated.';
const OneTimeToken = z.string().min(1).max(200).describe('The token of the invitation or of the password reset.');

/** Part of the response that carries the refresh token. Scripts of a page cannot read the cookie. */
export const RefreshTokenPlace = z.enum(['body', 'cookie']);
export type RefreshTokenPlace = z.infer<typeof RefreshTokenPlace>;

const RefreshTokenIn = RefreshTokenPlace.optional().describe(
  'Where the response has the refresh token: in its body (the default), or in a cookie that only the browser can read.',
);

/** A code of the authenticator app (RFC 6238). */
const TotpCode = z
  .string()
  .regex(/^\d{6}$/, 'must be the six digits that the authenticator app shows')
  .describe('The six digits that the app shows.');
const RecoveryCode = z.string().min(12).max(40).describe('One of the ten codes for a lost app; each is valid once.');
const FactorPasskey = PasskeyAssertion.optional().describe('A passkey, which signed a challenge for `second_factor`.');
const SecondFactorProof = {
  totp_code: TotpCode.optional(),
  recovery_code: RecoveryCode.optional(),
  passkey: FactorPasskey,
};

export const LoginRequest = z
  .object({
    email: z.string().min(3).max(320).describe('E-mail address of the user.'),
    password: GivenPassword,
    ...SecondFactorProof,
    refresh_token_in: RefreshTokenIn,
  })
  .meta({ id: 'LoginRequest' });

/** POST /api/v1/auth/passkeys/sign-in */
export const PasskeySignInRequest = z
  .strictObject({
    passkey: PasskeyAssertion.describe('A passkey, which verified the person and signed a challenge for `sign_in`.'),
    refresh_token_in: RefreshTokenIn,
  })
  .meta({ id: 'PasskeySignInRequest' });

/**
 * POST /api/v1/auth/refresh: the token is in the body, or in the cookie of a sign-in that uses one. Client generators
 * get the first schema, which has no variants; requests are checked with the second one.
 */
export const RefreshRequest = z
  .looseObject({
    refresh_token: z
      .string()
      .min(1)
      .max(2048)
      .optional()
      .describe(
        'The refresh token of the last response. Required, unless it is in the cookie; then it must be absent.',
      ),
    refresh_token_in: RefreshTokenPlace.optional().describe(
      'Where the refresh token is: in the body (the default), or in the cookie.',
    ),
  })
  .meta({ id: 'RefreshRequest' })
  .pipe(
    z.discriminatedUnion('refresh_token_in', [
      z.object({ refresh_token: z.string(), refresh_token_in: z.literal('body').optional() }),
      z.strictObject({ refresh_token_in: z.literal('cookie') }),
    ]),
  );

/**
 * POST /api/v1/auth/logout: ends this sign-in, or with `everywhere` all sign-ins of the user. The
 * body is optional.
 */
export const LogoutRequest = z
  .strictObject({ everywhere: z.boolean().default(false).describe('Whether every sign-in of the user ends.') })
  .prefault({})
  .meta({ id: 'LogoutRequest' });

/** POST /api/v1/auth/change-password */
export const ChangePasswordRequest = z
  .strictObject({ current_password: GivenPassword, new_password: NewPassword.describe(NEW_PASSWORD) })
  .meta({ id: 'ChangePasswordRequest' });

/** POST /api/v1/auth/accept-invitation */
export const AcceptInvitationRequest = z
  .strictObject({
    token: OneTimeToken,
    password: NewPassword.describe(NEW_PASSWORD),
    refresh_token_in: RefreshTokenIn,
  })
  .meta({ id: 'AcceptInvitationRequest' });

/** POST /api/v1/auth/request-password-reset */
export const RequestPasswordResetRequest = z
  .strictObject({ email: z.email().max(320).toLowerCase().describe('E-mail address of the user.') })
  .meta({ id: 'RequestPasswordResetRequest' });

export const PasswordResetRequestedResponse = z
  .object({ message: z.string().describe('What was done, in words.') })
  .meta({ id: 'PasswordResetRequestedResponse' });

/** GET /api/v1/auth/options */
export const AuthOptionsResponse = z
  .object({
    data: z
      .object({
        mail: z.boolean().describe('Whether the service sends mail: invitations, password resets and notices.'),
        sign_up: z
          .enum(['open', 'invite'])
          .describe('Whether everyone can create an organisation, or only invited people a user.'),
        passkeys: z.boolean().describe('Whether users can have passkeys.'),
      })
      .describe('The result.'),
  })
  .meta({ id: 'AuthOptionsResponse' });

/** POST /api/v1/auth/reset-password */
export const ResetPasswordRequest = z
  .strictObject({ token: OneTimeToken, password: NewPassword.describe(NEW_PASSWORD) })
  .meta({ id: 'ResetPasswordRequest' });

export const UserSummary = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    tenant_id: Uuid.describe('The tenant of the user.'),
    email: z.string().describe('E-mail address of the user.'),
    role: z.string().describe('What the user may do.'),
  })
  .meta({ id: 'UserSummary' });

const AccessTokenData = z.object({
  token_type: z.literal('Bearer').describe('How the access token is sent.'),
  access_token: z.string().describe('Send it as `Authorization: Bearer …`.'),
  expires_in: z.int().describe('Seconds until the access token expires.'),
  user: UserSummary,
});

/** POST /api/v1/auth/login, /refresh and /accept-invitation (names of RFC 6749 §5.1) */
export const TokensResponse = z.object({
  message: z.string().describe('What was done, in words.'),
  data: AccessTokenData.extend({ refresh_token: z.string() }),
});
export type TokensResponse = z.infer<typeof TokensResponse>;

/** The response with `"refresh_token_in": "cookie"`: the refresh token is in the Set-Cookie header. */
export const CookieTokensResponse = z.object({ message: TokensResponse.shape.message, data: AccessTokenData });
export type CookieTokensResponse = z.infer<typeof CookieTokensResponse>;

/** Either of these responses. */
export const SignInResponse = z
  .object({
    message: TokensResponse.shape.message,
    data: AccessTokenData.extend({
      refresh_token: z
        .string()
        .optional()
        .describe(
          'Valid for one renewal, which returns the next refresh token. Absent with `"refresh_token_in": "cookie"`.',
        ),
    }).describe('The result.'),
  })
  .meta({ id: 'SignInResponse' });
export type SignInResponse = z.infer<typeof SignInResponse>;

/** GET /api/v1/auth/me */
export const MeResponse = z.object({ data: UserSummary }).meta({ id: 'MeResponse' });
export type MeResponse = z.infer<typeof MeResponse>;

/** POST /api/v1/auth/logout, /change-password and /reset-password */
export const SignInsEndedResponse = z
  .object({
    message: z.string().describe('What was done, in words.'),
    data: z
      .object({
        ended_sign_ins: z.int().describe('Number of sign-ins that ended.'),
      })
      .describe('The result.'),
  })
  .meta({ id: 'SignInsEndedResponse' });
export type SignInsEndedResponse = z.infer<typeof SignInsEndedResponse>;

/** GET /api/v1/auth/second-factor */
export const SecondFactorResponse = z
  .object({
    data: z
      .object({
        enabled_at: z.iso
          .datetime()
          .nullable()
          .describe('Since when the authenticator app is in force, or null if there is none.'),
        recovery_codes_left: z.int().describe('Recovery codes that were not used.'),
      })
      .describe('The result.'),
  })
  .meta({ id: 'SecondFactorResponse' });

/** POST /api/v1/auth/second-factor: with one proof, if there is a passkey. */
export const BeginSecondFactorRequest = z
  .strictObject({ current_password: GivenPassword, ...SecondFactorProof })
  .meta({ id: 'BeginSecondFactorRequest' });

export const SecondFactorBegunResponse = z
  .object({
    message: z.string().describe('What was done, in words.'),
    data: z
      .object({
        secret: z.string().describe('Base32, for apps that read no QR code.'),
        otpauth_uri: z.string().describe('Show it as a QR code.'),
      })
      .describe('The result.'),
  })
  .meta({ id: 'SecondFactorBegunResponse' });

/** POST /api/v1/auth/second-factor/confirm */
export const ConfirmSecondFactorRequest = z
  .strictObject({ totp_code: TotpCode })
  .meta({ id: 'ConfirmSecondFactorRequest' });

export const SecondFactorConfirmedResponse = z
  .object({
    message: z.string().describe('What was done, in words.'),
    data: z
      .object({
        recovery_codes: z
          .array(z.string())
          .nullable()
          .describe('Ten codes, shown this once, or null if you had a passkey before: its codes stay.'),
      })
      .describe('The result.'),
  })
  .meta({ id: 'SecondFactorConfirmedResponse' });

/** POST /api/v1/auth/second-factor/recovery-codes */
export const RenewRecoveryCodesRequest = z
  .strictObject({
    current_password: GivenPassword,
    totp_code: TotpCode.optional().describe('The six digits that the app shows. This or `passkey` is required.'),
    passkey: FactorPasskey,
  })
  .refine(({ totp_code, passkey }) => totp_code !== undefined || passkey !== undefined, {
    path: ['totp_code'],
    error: 'is required, unless passkey is given',
  })
  .meta({ id: 'RenewRecoveryCodesRequest' });

export const RecoveryCodesResponse = z
  .object({
    message: z.string().describe('What was done, in words.'),
    data: z
      .object({ recovery_codes: z.array(z.string()).describe('Ten codes, shown this once.') })
      .describe('The result.'),
  })
  .meta({ id: 'RecoveryCodesResponse' });

/** POST /api/v1/auth/second-factor/disable: with one proof. */
export const DisableSecondFactorRequest = z
  .strictObject({
    current_password: GivenPassword,
    ...SecondFactorProof,
    totp_code: SecondFactorProof.totp_code.describe(
      'The six digits that the app shows. This, `recovery_code` or `passkey` is required.',
    ),
  })
  .refine(({ totp_code, recovery_code, passkey }) => (totp_code ?? recovery_code ?? passkey) !== undefined, {
    path: ['totp_code'],
    error: 'is required, unless recovery_code or passkey is given',
  })
  .meta({ id: 'DisableSecondFactorRequest' });

/** POST /api/v1/auth/passkeys, and /passkeys/{passkey_id}/remove: with one proof, if there is a second factor. */
export const ChangePasskeysRequest = z
  .strictObject({ current_password: GivenPassword, ...SecondFactorProof })
  .meta({ id: 'ChangePasskeysRequest' });

export const SecondFactorDisabledResponse = z
  .object({
    message: z.string().describe('What was done, in words.'),
    data: z
      .object({ enabled_at: z.iso.datetime().nullable().describe('Always null, because a sign-in requires no code.') })
      .describe('The result.'),
  })
  .meta({ id: 'SecondFactorDisabledResponse' });

/** POST /api/v1/auth/sign-up */
export const SignUpRequest = z
  .strictObject({
    organisation: displayName(300).min(1).describe('Name of the tenant.'),
    email: z.email().max(320).toLowerCase().describe('E-mail address of the first owner.'),
    proof_of_work: z
      .string()
      .regex(PROOF)
      .optional()
      .describe(
        'The challenge, a dot and a decimal number, so that the SHA-256 of this begins with the zero bits that the challenge states.',
      ),
  })
  .meta({ id: 'SignUpRequest' });

export const SignUpRequestedResponse = z
  .object({
    message: z.string().describe('What was done, in words.'),
    data: z
      .object({
        token: z.string().nullable().describe('For /api/v1/auth/confirm-sign-up. It is null if it is sent by mail.'),
      })
      .describe('The result.'),
  })
  .meta({ id: 'SignUpRequestedResponse' });

/** POST /api/v1/auth/confirm-sign-up */
export const ConfirmSignUpRequest = z
  .strictObject({
    token: z.string().min(1).max(3_000).describe('The token of the link.'),
    password: NewPassword.describe(NEW_PASSWORD),
    refresh_token_in: RefreshTokenIn,
  })
  .meta({ id: 'ConfirmSignUpRequest' });
