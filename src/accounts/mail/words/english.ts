import type { AccountNotice } from '../mail-job.js';
import type { MailWords } from './mail-words.js';

const ENGLISH_NOTICES: Readonly<Record<AccountNotice, { readonly subject: string; readonly event: string }>> = {
  signed_in: { subject: 'New sign-in', event: 'Your account was used to sign in' },
  password_changed: { subject: 'Your password was changed', event: 'The password of your account was changed' },
  second_factor_enabled: {
    subject: 'Two-factor sign-in enabled',
    event: 'A second factor was added to your account',
  },
  second_factor_disabled: {
    subject: 'Two-factor sign-in disabled',
    event: 'The second factor of your account was removed',
  },
  recovery_code_used: {
    subject: 'A recovery code was used',
    event: 'A recovery code was used in place of the second factor of your account',
  },
  recovery_codes_renewed: {
    subject: 'Your recovery codes were replaced',
    event: 'The recovery codes of your account were replaced',
  },
};

export const ENGLISH: MailWords = {
  dateAndTime: (time) => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`,
  invitation: ({ host, link, until, invitedBy }) => ({
    subject: `Your invitation to ${host}`,
    paragraphs: [
      `${invitedBy ?? `The operator of ${host}`} invited you to Consent Ledger at ${host}.`,
      `Accept the invitation and choose a password:\n${link}`,
      `The link is valid until ${until} and works once. If you do not expect this invitation, ignore this mail.`,
    ],
  }),
  passwordReset: ({ host, link, until }) => ({
    subject: `Set a new password at ${host}`,
    paragraphs: [
      `A new password was requested for your account at ${host}.`,
      `Set it here:\n${link}`,
      `The link is valid until ${until} and works once. If you did not expect this, ignore this mail: your password stays as it is.`,
    ],
  }),
  signUp: ({ host, link, until }) => ({
    subject: `Complete your sign-up at ${host}`,
    paragraphs: [
      `This address was used to sign up at ${host}.`,
      `Choose a password to create your organisation:\n${link}`,
      `The link is valid until ${until} and works once. If this was not you, ignore this mail: nothing is created.`,
    ],
  }),
  alreadyUser: ({ host, panel }) => ({
    subject: `You have an account at ${host}`,
    paragraphs: [
      `This address was used to sign up at ${host}, and has an account already.`,
      `Sign in, or ask for a new password:\n${panel}`,
      'If this was not you, ignore this mail.',
    ],
  }),
  notice: ({ notice, host, panel, at }) => ({
    subject: `${ENGLISH_NOTICES[notice].subject} at ${host}`,
    paragraphs: [
      `${ENGLISH_NOTICES[notice].event} at ${host} at ${at}.`,
      `If this was not you, ask for a new password at once, which ends every sign-in, and tell the owner of your organisation:\n${panel}`,
    ],
  }),
};
