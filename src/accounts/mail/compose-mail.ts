import type { Letter, MailLanguage } from './mail-job.js';
import { ENGLISH } from './words/english.js';
import type { MailText, MailWords } from './words/mail-words.js';
import { TURKISH } from './words/turkish.js';

/** A mail as text. */
export interface ComposedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const WORDS: Readonly<Record<MailLanguage, MailWords>> = { en: ENGLISH, tr: TURKISH };

/**
 * Writes a mail. The text contains no word that a user chose but the address of the inviting user: an
 * invitation must not carry a message of its sender to strangers. Tokens are in the fragment of a
 * link, which browsers do not send to servers.
 * @param publicUrl origin of the service, e.g. `https://consent.example.org`
 */
export function composeMail(letter: Letter, publicUrl: string): ComposedMail {
  const { subject, paragraphs } = textOf(letter, publicUrl);
  return { to: letter.to, subject, text: `${paragraphs.join('\n\n')}\n` };
}

function textOf(letter: Letter, publicUrl: string): MailText {
  const words = WORDS[letter.language];
  const { host } = new URL(publicUrl);
  const panel = `${publicUrl}/panel`;
  const linkTo = (page: string, { token, expires_at }: { readonly token: string; readonly expires_at: string }) => ({
    host,
    link: `${panel}/${page}#token=${token}`,
    until: words.dateAndTime(expires_at),
  });
  switch (letter.kind) {
    case 'invitation':
      return words.invitation({ ...linkTo('accept-invitation', letter), invitedBy: letter.invited_by });
    case 'password_reset':
      return words.passwordReset(linkTo('reset-password', letter));
    case 'sign_up':
      return words.signUp(linkTo('confirm-sign-up', letter));
    case 'already_user':
      return words.alreadyUser({ host, panel });
    case 'notice':
      return words.notice({ notice: letter.notice, host, panel, at: words.dateAndTime(letter.at) });
  }
}
