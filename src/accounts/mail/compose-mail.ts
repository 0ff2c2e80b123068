import { counted } from '../../../schemas/text/counted.js';
import type { AccountNotice, Letter, MailLanguage } from './mail-job.js';

/** Subject and paragraphs of a mail. */
interface MailText {
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

/** The texts of all mails in one language. A subject contains nothing that a user wrote. */
interface MailWords {
  /** @param time ISO 8601, UTC */
  readonly dateAndTime: (time: string) => string;
  /** @param mail the mail with the address of the inviting user, which is null if an operator invites */
  readonly invitation: (mail: LinkMail & { readonly invitedBy: string | null }) => MailText;
  readonly passwordReset: (mail: LinkMail) => MailText;
  readonly signUp: (mail: LinkMail) => MailText;
  readonly alreadyUser: (mail: { readonly host: string; readonly panel: string }) => MailText;
  readonly notice: (mail: NoticeMail) => MailText;
  readonly domainProof: (mail: DomainProofMail) => MailText;
}

export interface DomainProofMail {
  readonly warning: 'failing' | 'lapses_soon';
  readonly domain: string;
  readonly host: string;
  readonly panel: string;
  /** Dates and times in UTC. */
  readonly since: string;
  readonly lapsesAt: string;
}

export interface NoticeMail {
  readonly notice: AccountNotice;
  /** Passkeys that still sign in after a new password. */
  readonly passkeys: number;
  readonly host: string;
  readonly panel: string;
  readonly at: string;
}

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
  passkey_added: { subject: 'A passkey was added', event: 'A passkey was added to your account' },
  passkey_removed: { subject: 'A passkey was removed', event: 'A passkey of your account was removed' },
};

const ENGLISH: MailWords = {
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
    subject: `Complete your sign-up for Consent Ledger at ${host}`,
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
  notice: ({ notice, passkeys, host, panel, at }) => ({
    subject: `${ENGLISH_NOTICES[notice].subject} at ${host}`,
    paragraphs: [
      `${ENGLISH_NOTICES[notice].event} at ${host} at ${at}.`,
      ...(passkeys > 0
        ? [
            `${counted(passkeys, 'passkey')} of the account can still be used to sign in. Remove each one that you do not know:\n${panel}/profile`,
          ]
        : []),
      `If this was not you, ask for a new password at once, which ends every sign-in, and tell the owner of your organisation:\n${panel}`,
    ],
  }),
  domainProof: ({ warning, domain, host, panel, since, lapsesAt }) => ({
    subject:
      warning === 'failing'
        ? `No proof found for ${domain} (${host})`
        : `Scans and publications of ${domain} stop soon (${host})`,
    paragraphs: [
      `The file or tag that proves that ${domain} is yours has not been found since ${since}.`,
      `Consents are still recorded. If it is not found by ${lapsesAt}, scans of the site and new publications of its configuration stop.`,
      `Put it back, or prove the domain in another way. The page of the site says how:\n${panel}`,
    ],
  }),
};

interface NoticeText {
  readonly subject: string;
  readonly event: (host: string, at: string) => string;
}

const TURKISH_NOTICES: Readonly<Record<AccountNotice, NoticeText>> = {
  signed_in: {
    subject: 'Yeni oturum açma',
    event: (host, at) => `${at} tarihinde ${host} adresinde hesabınızla oturum açıldı.`,
  },
  password_changed: {
    subject: 'Parolanız değiştirildi',
    event: (host, at) => `${at} tarihinde ${host} adresindeki hesabınızın parolası değiştirildi.`,
  },
  second_factor_enabled: {
    subject: 'İki adımlı doğrulama etkinleştirildi',
    event: (host, at) => `${at} tarihinde ${host} adresindeki hesabınıza ikinci bir doğrulama adımı eklendi.`,
  },
  second_factor_disabled: {
    subject: 'İki adımlı doğrulama kapatıldı',
    event: (host, at) => `${at} tarihinde ${host} adresindeki hesabınızın ikinci doğrulama adımı kaldırıldı.`,
  },
  recovery_code_used: {
    subject: 'Bir kurtarma kodu kullanıldı',
    event: (host, at) =>
      `${at} tarihinde ${host} adresindeki hesabınızda ikinci doğrulama adımı yerine bir kurtarma kodu kullanıldı.`,
  },
  recovery_codes_renewed: {
    subject: 'Kurtarma kodlarınız yenilendi',
    event: (host, at) => `${at} tarihinde ${host} adresindeki hesabınızın kurtarma kodları yenilendi.`,
  },
  passkey_added: {
    subject: 'Geçiş anahtarı eklendi',
    event: (host, at) => `${at} tarihinde ${host} adresindeki hesabınıza bir geçiş anahtarı eklendi.`,
  },
  passkey_removed: {
    subject: 'Geçiş anahtarı kaldırıldı',
    event: (host, at) => `${at} tarihinde ${host} adresindeki hesabınızın bir geçiş anahtarı kaldırıldı.`,
  },
};

const TURKISH: MailWords = {
  dateAndTime: (time) => {
    const [year, month, day] = time.slice(0, 10).split('-');
    return `${day}.${month}.${year} ${time.slice(11, 16)} UTC`;
  },
  invitation: ({ host, link, until, invitedBy }) => ({
    subject: `${host} davetiniz`,
    paragraphs: [
      `${invitedBy ?? `${host} işletmecisi`} sizi ${host} adresindeki Consent Ledger hizmetine davet etti.`,
      `Daveti kabul edin ve bir parola belirleyin:\n${link}`,
      `Bağlantı ${until} tarihine kadar ve yalnızca bir kez geçerlidir. Bu daveti beklemiyorsanız iletiyi dikkate almayın.`,
    ],
  }),
  passwordReset: ({ host, link, until }) => ({
    subject: `${host} için yeni parola`,
    paragraphs: [
      `${host} adresindeki hesabınız için yeni bir parola istendi.`,
      `Yeni parolanızı buradan belirleyin:\n${link}`,
      `Bağlantı ${until} tarihine kadar ve yalnızca bir kez geçerlidir. Bunu beklemiyorsanız iletiyi dikkate almayın: parolanız değişmez.`,
    ],
  }),
  signUp: ({ host, link, until }) => ({
    subject: `${host} kaydınızı tamamlayın`,
    paragraphs: [
      `Bu e-posta adresiyle ${host} adresinde kayıt başlatıldı.`,
      `Kuruluşunuzu oluşturmak için bir parola belirleyin:\n${link}`,
      `Bağlantı ${until} tarihine kadar ve yalnızca bir kez geçerlidir. Kaydı siz başlatmadıysanız iletiyi dikkate almayın: hiçbir şey oluşturulmaz.`,
    ],
  }),
  alreadyUser: ({ host, panel }) => ({
    subject: `${host} adresinde hesabınız var`,
    paragraphs: [
      `Bu e-posta adresiyle ${host} adresinde kayıt başlatıldı, ancak adresin zaten bir hesabı var.`,
      `Oturum açın veya yeni bir parola isteyin:\n${panel}`,
      'Kaydı siz başlatmadıysanız iletiyi dikkate almayın.',
    ],
  }),
  notice: ({ notice, passkeys, host, panel, at }) => ({
    subject: `${TURKISH_NOTICES[notice].subject}: ${host}`,
    paragraphs: [
      TURKISH_NOTICES[notice].event(host, at),
      ...(passkeys > 0
        ? [
            `Hesabın ${passkeys} geçiş anahtarıyla hâlâ oturum açılabilir. Tanımadığınız geçiş anahtarlarını kaldırın:\n${panel}/profile`,
          ]
        : []),
      `Bunu siz yapmadıysanız hemen yeni bir parola isteyin; böylece tüm oturumlar kapanır. Kuruluşunuzun sahibine de haber verin:\n${panel}`,
    ],
  }),
  domainProof: ({ warning, domain, host, panel, since, lapsesAt }) => ({
    subject:
      warning === 'failing'
        ? `${domain} alan adının kanıtı bulunamadı (${host})`
        : `${domain} sitesinin taramaları ve yayınları yakında duracak (${host})`,
    paragraphs: [
      `${domain} alan adının size ait olduğunu kanıtlayan dosya veya etiket ${since} tarihinden beri bulunamıyor.`,
      `Rızalar kaydedilmeye devam ediyor. Kanıt ${lapsesAt} tarihine kadar bulunamazsa sitenin taramaları ve yapılandırmasının yeni yayınları durur.`,
      `Kanıtı geri koyun veya alan adını başka bir yolla kanıtlayın. Sitenin sayfası nasıl yapılacağını gösterir:\n${panel}`,
    ],
  }),
};

/** A mail as text. */
export interface ComposedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const WORDS: Readonly<Record<MailLanguage, MailWords>> = { en: ENGLISH, tr: TURKISH };

/**
 * Composes a mail. The only user-supplied texts in it are the address of the inviting user, because an invitation
 * must not let its sender write to strangers, and to owners the domain of their own site. Tokens are in the fragment of a link, which browsers do not send to servers.
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
      return words.notice({
        notice: letter.notice,
        passkeys: letter.passkeys ?? 0,
        host,
        panel,
        at: words.dateAndTime(letter.at),
      });
    case 'domain_proof':
      return words.domainProof({
        warning: letter.warning,
        domain: letter.domain,
        host,
        panel,
        since: words.dateAndTime(letter.since),
        lapsesAt: words.dateAndTime(letter.lapses_at),
      });
  }
}
