import type { secondFactor as English } from '../en/second-factor.js';

export const secondFactor: typeof English = {
  title: 'İki aşamalı doğrulama',
  lead: 'Telefonunuzdaki bir uygulama, oturum açarken gireceğiniz bir kod üretir.',
  on: (date) => `${date} tarihinden beri iki aşamalı doğrulama açık.`,
  off: 'Yalnızca parolanızla oturum açıyorsunuz.',
  passkeyOnly: 'Parolanızla birlikte bir geçiş anahtarı ya da kurtarma kodu gerekir.',
  codesLeft: (count) => `Kalan kurtarma kodu: ${count}`,
  begin: 'İki aşamalı doğrulamayı aç',
  beginText: 'Parolanızla onaylayın.',
  scan: 'Bu resmi doğrulama uygulamanızla tarayın ya da gizli anahtarı uygulamaya yazın.',
  picture: 'Doğrulama uygulaması için QR kodu',
  secret: 'Gizli anahtar',
  code: 'Uygulamanın kodu',
  confirm: 'Kodu onayla',
  recovery: 'Kurtarma kodlarınız',
  recoveryText:
    'Her kod, uygulamanın ya da geçiş anahtarının yerine bir kez kullanılabilir. Kodları önemli belgelerinizle birlikte saklayın. Bir kez gösterilirler.',
  renew: 'Kurtarma kodlarını değiştir',
  renewText: 'Yeni kodlar alırsınız; eskileri artık çalışmaz.',
  kept: 'Kodları sakladım',
  disable: 'İki aşamalı doğrulamayı kapat',
  disableText: 'Bundan sonra yalnızca parolanızla oturum açarsınız.',
  codeOrRecovery: 'Uygulamanızın kodu veya bir kurtarma kodu',
  askCode: 'Doğrulama uygulamanızın şimdi gösterdiği kodu girin.',
  has: '2FA',
  reset: 'İki aşamalı doğrulamayı kapat',
  resetText:
    'Kullanıcı uygulamayı ya da geçiş anahtarlarını ve kurtarma kodlarını kaybettiyse kullanın. Hepsi kaldırılır; kullanıcı bundan sonra yalnızca parolayla oturum açar.',
};
