import { causedBy, createMailQueue } from '../accounts/mail/mail-queue.js';
import { createMailer } from '../accounts/mail/mailer-part.js';
import { createSmtpTransport } from '../accounts/mail/smtp-transport.js';
import { mailRequestedReset } from '../accounts/sign-in/set-password.js';
import type { BackgroundPart } from '../platform/background/part.js';
import { Looks } from '../platform/background/waiting.js';
import type { MailConfig } from '../platform/config/index.js';
import type { Installation } from './installation.js';

/** Composes the part that sends mails to users. */
export function openMailer({ adminPool, keyring, logger }: Installation, mail: MailConfig): BackgroundPart {
  const queueMail = createMailQueue(keyring);
  return createMailer({
    db: adminPool,
    looks: new Looks(adminPool),
    keys: keyring,
    openTransport: () => createSmtpTransport(mail),
    publicUrl: mail.publicUrl,
    onResetRequest: (db, email, cause) => mailRequestedReset(db, keyring, causedBy(queueMail, cause), email),
    logger,
  });
}
