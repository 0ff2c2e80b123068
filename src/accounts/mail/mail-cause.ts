import { chooseLanguage } from '../../../schemas/language/choose-language.js';
import { acceptedLanguages } from '../../platform/accepted-languages.js';
import { MAIL_LANGUAGES, MailLanguage } from './mail-job.js';
import type { MailNetwork, QueueMail } from './mail-queue.js';

/** Language and network of the request that caused a mail. */
export interface MailCause {
  readonly language: MailLanguage;
  readonly network: MailNetwork;
}

/** The cause of mails that no request causes. */
export const BY_OPERATOR: MailCause = { language: 'en', network: null };

/** A request, as far as mails depend on it. */
export interface CausingRequest {
  readonly headers: { readonly 'accept-language'?: string | undefined };
  readonly countedNetwork: string;
}

/** The cause of the mails that a request causes. */
export function mailCauseOf({ headers, countedNetwork }: CausingRequest): MailCause {
  return { language: mailLanguageOf(headers['accept-language']), network: countedNetwork };
}

/**
 * The language of mails that a request causes: English, unless the request prefers Turkish.
 * @param header Accept-Language (RFC 9110 §12.5.4)
 */
export function mailLanguageOf(header: string | undefined): MailLanguage {
  return MailLanguage.parse(chooseLanguage(MAIL_LANGUAGES, acceptedLanguages(header), 'en'));
}

/** The queue for mails of one cause. @param queueMail null: the service sends no mail */
export function causedBy(queueMail: QueueMail | null, { language, network }: MailCause): QueueMail | null {
  return queueMail === null ? null : (db, job) => queueMail(db, { ...job, language }, network);
}
