import type { words as English } from '../en/words.js';

export const words: typeof English = {
  unknown: 'bilinmiyor',
  none: 'yok',
  notProved: 'kanıtlanmadı',
  yes: 'evet',
  no: 'hayır',
  details: 'Ayrıntılar',
  months: [
    ...['Ocak', 'Şubat', 'Mart', 'Nisan', 'Mayıs', 'Haziran'],
    ...['Temmuz', 'Ağustos', 'Eylül', 'Ekim', 'Kasım', 'Aralık'],
  ],
  verdicts: {
    valid: { word: 'Geçerli', sentence: 'Gerekli tüm denetimler geçti.' },
    indeterminate: {
      word: 'Belirsiz',
      sentence:
        'Başarısız denetim yok, ancak gerekli bir denetim sonuçlandırılamadı. Aşağıda “?” ile işaretli denetimlere bakın.',
    },
    invalid: {
      word: 'Geçersiz',
      sentence: 'En az bir denetim başarısız oldu. Aşağıda “✗” ile işaretli denetimlere bakın.',
    },
    development: {
      word: 'Geçerli, ama kanıt değil',
      sentence:
        'Bu defteri bir geliştirme zaman damgası makamı damgaladı. Böyle bir makamı herkes çalıştırabilir ve saatini ayarlayabilir.',
    },
    published: {
      word: 'İşletenin yayımladıklarıyla tutarlı',
      sentence:
        'Anahtar ve kök sertifikalar işletenin kendi hizmetinden alındı; bu nedenle işletene karşı hiçbir şey kanıtlanmış değildir. Bunun için başka yerden alınmış bir anahtar ve köklerle denetleyin.',
    },
  },
  outcomes: { pass: 'geçti', fail: 'başarısız', indeterminate: 'açık', 'not-applicable': 'uygulanmaz' },
  recordVerdicts: { valid: 'geçerli', indeterminate: 'belirsiz', invalid: 'geçersiz' },
  decisions: {
    accepted: 'kabul edildi',
    rejected: 'reddedildi',
    partial: 'kısmen kabul edildi',
    withdrawn: 'geri alındı',
    'do_not_sell_opt_out accepted': 'verilerin satılmaması istendi',
    'do_not_sell_opt_out withdrawn': 'verilerin satılmaması talebi geri alındı',
    'objection rejected': 'itiraz edildi',
    'objection withdrawn': 'itiraz geri alındı',
  },
  objectedTo: (names) => `şunlara itiraz edildi: ${names}`,
  stateOfLedger: (time) => `Defterin durumu: ${time}.`,
  atUnprovedTime: 'kanıtlanmamış bir zamanda',
  asOf: (time) => `${time} itibarıyla`,
  asOfUnproved: 'kanıtlanmamış bir zaman itibarıyla',
  because: (checks) => `nedeni: ${checks.join(' ve ')}`,
  affects: (checks) => `bu nedenle başarısız veya açık kalan diğer denetimler: ${checks.join(', ')}`,
  line: (line) => `satır ${line}`,
  revision: (stream, revision) => `${stream} revizyon ${revision}`,
  record: (id) => `kayıt ${id}`,
  more: (count) => `ve ${count} tane daha`,
  missingTrust: (missing) => `Bu dosya tek başına hiçbir şey kanıtlamaz. Eksik: ${missing.join('; ')}.`,
  missingKey: (ledger) => `defterin anahtarı (“${ledger}” işletmecisinden isteyin)`,
  missingRoot: (authorities) =>
    `zaman damgası makamının kök sertifikası (makamın kendisinden isteyin${authorities === null ? '' : `: ${authorities}`})`,
};
