import { chooseLanguage } from '../../../schemas/language/choose-language.js';
import { acceptedLanguages } from '../../platform/accepted-languages.js';
import { MAIL_LANGUAGES, MailLanguage } from './mail-job.js';
import type { QueueMail } from './mail-queue.js';

/**
 * The language of mails that a request causes: English, unless the request prefers Turkish.
 * @param header Accept-Language (RFC 9110 §12.5.4)
 */
export function mailLanguageOf(header: string | undefined): MailLanguage {
  return MailLanguage.parse(chooseLanguage(MAIL_LANGUAGES, acceptedLanguages(header), 'en'));
}

/** The queue for mails in one language. @param queueMail null: the service sends no mail */
export function inLanguage(queueMail: QueueMail | null, language: MailLanguage): QueueMail | null {
  return queueMail === null ? null : (db, job) => queueMail(db, { ...job, language });
}
