import { z } from 'zod';

/** What happened to an account, of which its user is told. */
export const ACCOUNT_NOTICES = [
  'signed_in',
  'password_changed',
  'second_factor_enabled',
  'second_factor_disabled',
  'recovery_code_used',
] as const;
export type AccountNotice = (typeof ACCOUNT_NOTICES)[number];

/** One address and nothing else: a line break in it could add recipients. */
export const MailAddress = z.email().max(320);
const Time = z.iso.datetime();

/** A mail that waits: what it says, not its words. Stored encrypted, because it contains tokens. */
export const MailJob = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('invitation'),
    to: MailAddress,
    token: z.string(),
    /** Address of the inviting user; null: an operator. */
    invited_by: MailAddress.nullable(),
    expires_at: Time,
  }),
  z.strictObject({ kind: z.literal('password_reset'), to: MailAddress, token: z.string(), expires_at: Time }),
  z.strictObject({ kind: z.literal('notice'), to: MailAddress, notice: z.enum(ACCOUNT_NOTICES), at: Time }),
  /** No mail yet: whether the address has a user is looked up later, so that no response shows it. */
  z.strictObject({ kind: z.literal('reset_request'), email: MailAddress }),
]);
export type MailJob = z.infer<typeof MailJob>;

/** A job that is a mail. */
export type Letter = Exclude<MailJob, { readonly kind: 'reset_request' }>;

/** The mail that tells a user what happened to the account now. */
export function noticeTo(to: string, notice: AccountNotice): MailJob {
  return { kind: 'notice', to, notice, at: new Date().toISOString() };
}
