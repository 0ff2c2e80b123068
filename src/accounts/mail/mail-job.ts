import * as z from 'zod';
import { SiteDomain } from '../../../schemas/api/panel/sites.js';

/** Events of an account that the service reports to its user by mail. */
export const ACCOUNT_NOTICES = [
  'signed_in',
  'password_changed',
  'second_factor_enabled',
  'second_factor_disabled',
  'recovery_code_used',
  'recovery_codes_renewed',
  'passkey_added',
  'passkey_removed',
] as const;
export type AccountNotice = (typeof ACCOUNT_NOTICES)[number];

/** Exactly one address: a line break could smuggle in more recipients. */
export const MailAddress = z.email().max(320);
const Time = z.iso.datetime();

export const MAIL_LANGUAGES = ['en', 'tr'] as const;
export const MailLanguage = z.enum(MAIL_LANGUAGES);
export type MailLanguage = z.infer<typeof MailLanguage>;
const language = MailLanguage.default('en');

/** A queued mail: the facts it states, not the text. It is stored encrypted because it contains tokens. */
export const MailJob = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('invitation'),
    to: MailAddress,
    token: z.string(),
    /** Address of the inviting user, or null if an operator invites. */
    invited_by: MailAddress.nullable(),
    expires_at: Time,
    language,
  }),
  z.strictObject({ kind: z.literal('password_reset'), to: MailAddress, token: z.string(), expires_at: Time, language }),
  z.strictObject({
    kind: z.literal('notice'),
    to: MailAddress,
    notice: z.enum(ACCOUNT_NOTICES),
    at: Time,
    /** Number of passkeys that still sign in after a new password. */
    passkeys: z.int().positive().optional(),
    language,
  }),
  /** To each owner of a site whose domain is no longer proved. */
  z.strictObject({
    kind: z.literal('domain_proof'),
    to: MailAddress,
    warning: z.enum(['failing', 'lapses_soon']),
    domain: SiteDomain,
    since: Time,
    lapses_at: Time,
    language,
  }),
  /** If the address already has a user, the mail says so. */
  z.strictObject({ kind: z.literal('sign_up'), to: MailAddress, token: z.string(), expires_at: Time, language }),
  /** Not a mail yet: the worker looks up later whether the address has a user, so that no response reveals it. */
  z.strictObject({ kind: z.literal('reset_request'), email: MailAddress, language }),
]);
export type MailJob = z.infer<typeof MailJob>;
/** A job as a caller queues it. The language defaults to English. */
export type NewMailJob = z.input<typeof MailJob>;

/** A job that is a mail. */
export type Letter =
  | Exclude<MailJob, { readonly kind: 'reset_request' }>
  | { readonly kind: 'already_user'; readonly to: string; readonly language: MailLanguage };

/**
 * Returns the mail that tells a user what has just happened to the account.
 * @param passkeys number of passkeys that stay valid after a new password
 */
export function noticeTo(to: string, notice: AccountNotice, passkeys = 0): NewMailJob {
  return { kind: 'notice', to, notice, at: new Date().toISOString(), ...(passkeys > 0 && { passkeys }) };
}
