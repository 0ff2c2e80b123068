import type { finder as English } from '../en/finder.js';

export const finder: typeof English = {
  label: 'Kayıt bul',
  placeholder: 'Rıza kodu, özet, kimlik, kişi',
  placeholderWithoutPerson: 'Rıza kodu, özet veya kimlik',
  find: 'Bul',
  clear: 'Aramayı temizle',
  results: 'Bulunanlar',
  finding: 'Aranıyor …',
  found: (count: string) => `${count} sonuç.`,
  nothing: 'Hiçbir şey bulunamadı.',
  noToken: 'Bu koda sahip kayıt yok. Kodun eksiksiz kopyalandığından emin olun.',
  canFind:
    'Bir rıza kodu (ct_…), bir kanıt özeti (64 onaltılık basamak) ya da bir kaydın, silme işleminin, sitenin veya başka bir nesnenin kimliği, kuruluşun tüm sitelerinde aranır. Yeni bir kayıt, kaydedildikten kısa süre sonra bulunur.',
  personTitle: 'Bu değere sahip kişiyi ara',
  personText: (sites: string) =>
    sites === '1'
      ? 'Arama, gerekçenizle birlikte ve kişi belirtilmeden denetim günlüğüne yazılır. Silinmiş kayıtlar bulunmaz.'
      : `${sites} sitenin tümü aranır. Her arama, gerekçenizle birlikte ve kişi belirtilmeden denetim günlüğüne yazılır. Silinmiş kayıtlar bulunmaz.`,
  personSearch: 'Kişiyi ara',
  personIn: (done: string, sites: string) => `Site aranıyor: ${done} / ${sites} …`,
  personNowhere: 'Hiçbir sitede bu kişinin kaydı yok.',
  recordsIn: (site: string) => `Bu kişinin kayıtları: ${site}`,
};
