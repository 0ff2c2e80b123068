import type { signUp as English } from '../en/sign-up.js';

export const signUp: typeof English = {
  title: 'Hesap oluştur',
  question: 'Henüz hesabınız yok mu?',
  organisation: 'Kuruluşunuzun adı',
  ask: 'Devam et',
  closed: 'Bu kurulum yalnızca davetle kullanıcı alıyor. Kuruluşunuzun sahibine veya hizmetin işletmecisine başvurun.',
  sent: (email) =>
    `${email} adresine e-posta gönderdik. İçindeki bağlantıyı 24 saat içinde izleyin. E-posta gelmezse istenmeyen postalara bakın ya da birkaç dakika sonra yeniden deneyin.`,
  proving: 'Şu anda çok sayıda hesap oluşturuluyor. Tarayıcınız birkaç saniye süren bir hesaplama yapıyor.',
  confirmTitle: 'Parolanızı belirleyin',
  confirm: 'Hesabı oluştur',
  token: 'Kayıt kodu',
  openLink: 'Size gönderdiğimiz e-postadaki bağlantıyı açın. Bağlantı buraya getirir ve kodu taşır.',
  enterCode: 'Bağlantım yok, kodum var',
};
