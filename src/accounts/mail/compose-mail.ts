import type { AccountNotice, Letter } from './mail-job.js';

/** A mail as text. */
export interface ComposedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * Writes a mail. The subject is constant, and the text contains no word that a user chose but the
 * address of the inviting user: an invitation must not carry a message of its sender to strangers.
 * Tokens are in the fragment of a link, which browsers do not send to servers.
 * @param publicUrl origin of the service, e.g. `https://consent.example.org`
 */
export function composeMail(letter: Letter, publicUrl: string): ComposedMail {
  const { host } = new URL(publicUrl);
  const { to } = letter;
  switch (letter.kind) {
    case 'invitation':
      return {
        to,
        subject: `Your invitation to ${host}`,
        text: paragraphs(
          `${letter.invited_by ?? `The operator of ${host}`} invited you to Consent Ledger at ${host}.`,
          `Accept the invitation and choose a password:\n${link(publicUrl, 'accept-invitation', letter.token)}`,
          `The link is valid until ${utc(letter.expires_at)} and works once. If you do not expect this invitation, ignore this mail.`,
        ),
      };
    case 'password_reset':
      return {
        to,
        subject: `Set a new password at ${host}`,
        text: paragraphs(
          `A new password was requested for your account at ${host}.`,
          `Set it here:\n${link(publicUrl, 'reset-password', letter.token)}`,
          `The link is valid until ${utc(letter.expires_at)} and works once. If you did not expect this, ignore this mail: your password stays as it is.`,
        ),
      };
    case 'notice':
      return {
        to,
        subject: `${NOTICES[letter.notice].subject} at ${host}`,
        text: paragraphs(
          `${NOTICES[letter.notice].text} at ${host} at ${utc(letter.at)}.`,
          `If this was not you, set a new password at once, which ends every sign-in, and tell the owner of your organisation:\n${publicUrl}/panel/forgot-password`,
        ),
      };
  }
}

const NOTICES: Readonly<Record<AccountNotice, { readonly subject: string; readonly text: string }>> = {
  signed_in: { subject: 'New sign-in', text: 'Your account was used to sign in' },
  password_changed: { subject: 'Your password was changed', text: 'The password of your account was changed' },
  second_factor_enabled: {
    subject: 'Two-factor sign-in enabled',
    text: 'A second factor was added to your account',
  },
  second_factor_disabled: {
    subject: 'Two-factor sign-in disabled',
    text: 'The second factor of your account was removed',
  },
  recovery_code_used: {
    subject: 'A recovery code was used',
    text: 'A recovery code was used in place of the second factor of your account',
  },
};

function link(publicUrl: string, page: string, token: string): string {
  return `${publicUrl}/panel/${page}#token=${token}`;
}

function utc(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}

function paragraphs(...texts: readonly string[]): string {
  return `${texts.join('\n\n')}\n`;
}
