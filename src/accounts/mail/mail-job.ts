import * as z from 'zod';

/** Events of an account that the service reports to its user by mail. */
export const ACCOUNT_NOTICES = [
  'signed_in',
  'password_changed',
  'second_factor_enabled',
  'second_factor_disabled',
  'recovery_code_used',
  'recovery_codes_renewed',
] as const;
export type AccountNotice = (typeof ACCOUNT_NOTICES)[number];

/** One address and nothing else: a line break in it could add recipients. */
export const MailAddress = z.email().max(320);
const Time = z.iso.datetime();

export const MAIL_LANGUAGES = ['en', 'tr'] as const;
export const MailLanguage = z.enum(MAIL_LANGUAGES);
export type MailLanguage = z.infer<typeof MailLanguage>;
const language = MailLanguage.default('en');

/** A mail that waits: what it says, not its words. Stored encrypted, because it contains tokens. */
export const MailJob = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('invitation'),
    to: MailAddress,
    token: z.string(),
    /** Address of the inviting user; null: an operator. */
    invited_by: MailAddress.nullable(),
    expires_at: Time,
    language,
  }),
  z.strictObject({ kind: z.literal('password_reset'), to: MailAddress, token: z.string(), expires_at: Time, language }),
  z.strictObject({ kind: z.literal('notice'), to: MailAddress, notice: z.enum(ACCOUNT_NOTICES), at: Time, language }),
  /** To an address that may have a user already: the mail then says so. */
  z.strictObject({ kind: z.literal('sign_up'), to: MailAddress, token: z.string(), expires_at: Time, language }),
  /** No mail yet: whether the address has a user is looked up later, so that no response shows it. */
  z.strictObject({ kind: z.literal('reset_request'), email: MailAddress, language }),
]);
export type MailJob = z.infer<typeof MailJob>;
/** A job as it is queued: in English, unless it says otherwise. */
export type NewMailJob = z.input<typeof MailJob>;

/** A job that is a mail. */
export type Letter =
  | Exclude<MailJob, { readonly kind: 'reset_request' }>
  | { readonly kind: 'already_user'; readonly to: string; readonly language: MailLanguage };

/** The mail that tells a user what happened to the account now. */
export function noticeTo(to: string, notice: AccountNotice): NewMailJob {
  return { kind: 'notice', to, notice, at: new Date().toISOString() };
}
