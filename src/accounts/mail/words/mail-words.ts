import type { AccountNotice } from '../mail-job.js';

/** Subject and paragraphs of a mail. */
export interface MailText {
  readonly subject: string;
  readonly paragraphs: readonly string[];
}

/** A mail with a link that works once. */
export interface LinkMail {
  readonly host: string;
  readonly link: string;
  /** Date and time in UTC. */
  readonly until: string;
}

/** The words of all mails in one language. A subject contains no word of a user. */
export interface MailWords {
  /** @param time ISO 8601, UTC */
  readonly dateAndTime: (time: string) => string;
  /** @param mail with the address of the inviting user; null: an operator */
  readonly invitation: (mail: LinkMail & { readonly invitedBy: string | null }) => MailText;
  readonly passwordReset: (mail: LinkMail) => MailText;
  readonly signUp: (mail: LinkMail) => MailText;
  readonly alreadyUser: (mail: { readonly host: string; readonly panel: string }) => MailText;
  readonly notice: (mail: NoticeMail) => MailText;
}

export interface NoticeMail {
  readonly notice: AccountNotice;
  readonly host: string;
  readonly panel: string;
  readonly at: string;
}
