import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Turkish. */
export const labels: LabelTexts = {
  accept: 'Tümünü kabul et',
  reject: 'Tümünü reddet',
  object: 'İtiraz et',
  settings: 'Çerez ayarları',
  save: 'Seçimi kaydet',
  always_on: 'Her zaman açık',
  cookies: 'Çerezler',
  close: 'Kapat',
  saved: 'Seçiminiz kaydedildi.',
  language: 'Dil',
  proof: 'Kaydedilen seçimi görüntüle (yeni sekme)',
  recipients: 'Alıcılar',
  storage_period: 'Saklama süresi',
  until_closed: 'tarayıcı kapatılana kadar',
  load_once: 'Bir kez yükle',
  allow_all: 'Tümüne izin ver: {0}',
  receives: 'Bu içerik yüklenirse veriler şu alıcıya gönderilir: {0}',
  service_policy: 'Gizlilik politikası (yeni sekme)',
  allow: 'İzin ver: {0}',
  opt_out: 'Vazgeçme talebiniz yerine getirildi',
  opt_out_conflict: 'Tarayıcınızın sinyali önceki seçiminizin yerine geçer. Yeniden seçebilirsiniz.',
  privacy_choices: 'Gizlilik seçimleriniz',
  do_not_sell: 'Kişisel bilgilerimi satmayın veya paylaşmayın',
  allow_sale: 'Satışa ve paylaşıma yeniden izin ver',
  opted_out: 'Kişisel bilgilerinizin satılmasını ve paylaşılmasını reddettiniz.',
  opted_out_by_signal: 'Tarayıcınızın sinyali, kişisel bilgilerinizin satılmasını ve paylaşılmasını reddetti.',
  not_opted_out: 'Kişisel bilgilerinizin satılmasını ve paylaşılmasını reddetmediniz.',
  account_scope: 'Oturumunuz açık. Seçiminiz hesabınız için, oturum açtığınız her cihazda geçerlidir.',
  account_space: 'Şu grubun sitelerinde de geçerlidir',
  account_applies: 'Bu cihazda hesabınızın seçimi geçerlidir. Dilediğiniz zaman değiştirebilirsiniz.',
  account_differs:
    'Bu cihazdaki seçim ile hesabınızdaki seçim farklı. Siz seçene kadar yalnızca ikisinin de izin verdikleri açık.',
  this_device: 'Bu cihaz',
  your_account: 'Hesabınız',
  nothing_optional: 'isteğe bağlı hiçbir şey',
};

export const defaults: DefaultTexts = {
  title: 'Çerez kullanımı',
  text: 'Çerezler ve benzeri teknolojiler kullanıyoruz. Bu sitenin ihtiyaç duydukları her zaman açıktır. Diğerlerini yalnızca açık rızanızla kullanırız: tümünü kabul edebilir, tümünü reddedebilir veya kategorilere göre seçim yapabilirsiniz.',
  withdrawal: 'Açık rızanızı istediğiniz zaman çerez ayarlarından geri alabilir veya seçiminizi değiştirebilirsiniz.',
  categories: {
    necessary: { title: 'Zorunlu', purpose: 'Bu sitenin güvenli çalışması ve seçiminizin hatırlanması.' },
    preferences: { title: 'Tercihler', purpose: 'Dil gibi ayarlarınızın hatırlanması.' },
    analytics: { title: 'İstatistik', purpose: 'Bu sitenin nasıl kullanıldığının ölçülmesi.' },
    marketing: { title: 'Reklam', purpose: 'Reklamların ilgi alanlarınıza göre seçilmesi ve etkisinin ölçülmesi.' },
  },
};
