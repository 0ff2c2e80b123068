import type { AccountNotice } from '../mail-job.js';
import type { MailWords } from './mail-words.js';

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
};

export const TURKISH: MailWords = {
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
  notice: ({ notice, host, panel, at }) => ({
    subject: `${TURKISH_NOTICES[notice].subject}: ${host}`,
    paragraphs: [
      TURKISH_NOTICES[notice].event(host, at),
      `Bunu siz yapmadıysanız hemen yeni bir parola isteyin; böylece tüm oturumlar kapanır. Kuruluşunuzun sahibine de haber verin:\n${panel}`,
    ],
  }),
};
