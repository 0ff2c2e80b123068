import type { auth as English } from '../en/auth.js';

export const auth: typeof English = {
  title: 'Oturum aç',
  email: 'E-posta adresi',
  password: 'Parola',
  signIn: 'Oturum aç',
  inNewTab: 'Yeni sekmede oturum aç',
  invitation: 'Davetiniz mi var?',
  acceptTitle: 'Daveti kabul edin',
  acceptText: 'Bir parola belirleyin. Ardından oturumunuz açılır.',
  accept: 'Kabul et ve oturum aç',
  token: 'Davet kodu',
  resetTitle: 'Yeni parola belirleyin',
  resetText: 'Kuruluşunuzun sahibinin veya yöneticisinin size verdiği kodu kullanın.',
  forgotten: 'Yeni parola için kod mu aldınız?',
  resetToken: 'Sıfırlama kodu',
  newPassword: 'Yeni parola',
  passwordHint: 'En az 12 karakter. Bir cümleyi hatırlamak kolaydır.',
  reset: 'Parolayı belirle',
  resetDone: 'Yeni parolanız belirlendi. Bu parolayla oturum açın.',
  toSignIn: 'Oturum açma sayfasına dön',
};
