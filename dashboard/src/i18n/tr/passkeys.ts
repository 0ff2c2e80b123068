import type { passkeys as English } from '../en/passkeys.js';

export const passkeys: typeof English = {
  title: 'Geçiş anahtarları',
  lead: 'Geçiş anahtarı, parola yerine cihazınızla ya da bir güvenlik anahtarıyla oturum açmanızı sağlar. Bu sayfadan başka hiçbir sayfa onu kullanamaz.',
  signIn: 'Geçiş anahtarıyla oturum aç',
  use: 'Geçiş anahtarı kullan',
  none: 'Geçiş anahtarı kullanılmadı. Yeniden deneyin ya da başka bir yolla oturum açın.',
  add: 'Geçiş anahtarı ekle',
  addText: 'Parolanızla onaylayın. Ardından tarayıcı, geçiş anahtarının nerede saklanacağını sorar.',
  label: 'Ad',
  labelHint: 'Onu tanımanız için, örneğin “Ofis bilgisayarı”.',
  noneYet: 'Geçiş anahtarınız yok.',
  created: 'Eklenme',
  used: 'Son kullanım',
  never: 'hiç',
  factorOnly: 'Yalnızca ikinci adım',
  factorOnlyText: 'PIN, parmak izi ya da yüz sormadı. Onunla birlikte parolanız da gerekir.',
  rename: 'Geçiş anahtarını yeniden adlandır',
  remove: 'Geçiş anahtarını kaldır',
  removeText: 'Artık onunla oturum açamazsınız; diğer oturumlarınız kapanır. Onu cihazdan da silin.',
  removeLast: 'Tek ikinci adımınız bu: bundan sonra yalnızca parolanızla oturum açarsınız.',
  proof: 'Uygulamanızın kodu veya bir kurtarma kodu',
  proofHint: 'Geçiş anahtarı kullanmak için boş bırakın.',
  notHere:
    'Geçiş anahtarları için hizmetin https ile başlayan, alan adlı bir adresi gerekir. Bunu işletmeci PUBLIC_URL ile ayarlar.',
  notInBrowser: 'Bu tarayıcıda geçiş anahtarı kullanılamıyor.',
};
