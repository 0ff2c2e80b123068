import type { overview as English } from '../en/overview.js';

export const overview: typeof English = {
  title: 'Genel bakış',
  lead: (days) => `Kuruluşunuzun son ${days} günü (UTC).`,
  period: 'Dönem',
  allSites: 'Tüm siteleri göster',
  consents: (days) => `${days} gündeki rızalar`,
  more: (count, share, days) => `Önceki ${days} güne göre ${count} fazla${share === null ? '' : ` (${share} artış)`}`,
  fewer: (count, share, days) => `Önceki ${days} güne göre ${count} az${share === null ? '' : ` (${share} azalış)`}`,
  same: (days) => `Önceki ${days} gündeki kadar`,
  rateBefore: (rate) => `önceki dönemde ${rate}`,
  bySite: 'Sitelere göre rızalar',
  site: 'Site adı',
  share: 'Pay',
  imported: (count) => `ve aktarılan ${count}`,
  rate: 'Kabul oranı',
  rateHint: 'tüm seçimler içinde “kabul edildi” payı',
  noRate: 'Henüz seçim yok',
  quota: 'Bu ay kalan',
  quotaOf: (used, all) => `${all} rızadan ${used} kullanıldı`,
  unlimited: 'Sınırsız',
  stamp: 'En yeni zaman damgası',
  noStamp: 'Henüz yok',
  development: 'deneme zaman damgası sağlayıcısından, kanıt değildir',
  waiting: (count) => `${count} kayıt damga bekliyor`,
  chart: 'Günlere ve karara göre rızalar',
  chartSummary: (total, days) => `${days} günde ${total} rıza.`,
  chooseDay: 'Sayıları görmek için bir güne dokunun, üzerine gelin ya da ok tuşlarını kullanın.',
  asTable: 'Sayıları tablo olarak göster',
  day: 'Gün',
  total: 'Toplam',
  conflicts:
    'Son 30 günde istemciler, tekrarlama anahtarlarını kaydedilmeyen başka bir rızayla yeniden kullandı. Ne yapılacağını görün:',
  alarms: 'İlgilenmeniz gerekenler',
  alarmTexts: {
    row_altered:
      'Saklanan ayarlar hizmet dışında değiştirilmiş; hizmet bunları artık kullanmıyor. Hizmetin işletmecisine bildirin.',
    site_quarantined: 'Bir sitenin kayıtları, hizmetin işletmecisi işlem yapana kadar bekliyor.',
    stamp_overdue:
      'Bir rıza, defter politikasının izin verdiğinden uzun süredir zaman damgası bekliyor. Hizmetin işletmecisine bildirin.',
    domain_proof_failing:
      'Alan adını kanıtlayan dosya veya etiket bulunamıyor. Rızalar kaydedilmeye devam ediyor; 30 gün boyunca bulunamazsa taramalar ve yayınlar durur.',
    plan_inactive: 'Planınız etkin değil: rızalar reddediliyor.',
    quota_used_up: 'Bu ayın kotası doldu: rızalar reddediliyor.',
  },
};
