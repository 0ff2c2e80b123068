import type { paper as English } from '../en/paper.js';

export const paper: typeof English = {
  title: 'Rıza kaydı belgesi',
  importedTitle: 'İçe aktarılmış rıza kaydı belgesi',
  across: { invalid: 'GEÇERSİZ', indeterminate: 'KANITLANMADI' },
  verdicts: {
    indeterminate: 'Hiçbir denetim başarısız olmadı; ancak gerekli bir denetim karara bağlanamadı.',
    invalid: 'En az bir denetim başarısız oldu.',
  },
  provedRecord: 'Kanıtlandı: bu kayıt defterde, değişmemiş hâliyle duruyor',
  attention: 'Dikkat:',
  shortened: '… (kısaltıldı: metnin tamamı dosyadadır)',
  shown: 'Gösterildiği biçim',
  shownWith: 'Kaydedilen sözlerden çizildi. Çerçeveli düğme, kullanılan düğmedir.',
  text: 'Şu sözlerle',
  proved: 'Neye dayanıyor',
  place: (index, count, batch) =>
    `Bu kayıt, defterin imzalı kökünün kapsadığı ${batch} numaralı Merkle kümesindeki ${count} girdinin ${index + 1}. girdisidir.`,
  stamped: (authority, time) =>
    `${authority} zaman damgası, kaydın buradaki hâliyle en geç ${time} itibarıyla var olduğunu kanıtlar.`,
  unchanged: 'O zamandan beri kaydın hiçbir yeri değiştirilmedi: özeti, damgalanan özettir.',
  stampedByPublished: (authority, time) =>
    `İşletenin yayımladığı kök sertifikaya göre ${authority} kaydı en geç ${time} itibarıyla damgaladı.`,
  unchangedByPublished: 'Aynı kök sertifikaya göre o zamandan beri kaydın hiçbir yeri değiştirilmedi.',
  unstamped:
    'Kaydı kapsayan geçerli bir zaman damgası yok; ne zaman var olduğu ve değiştirilip değiştirilmediği kanıtlı değil.',
  development:
    'Kaydı bir geliştirme otoritesi damgaladı. Böyle bir otoriteyi herkes çalıştırıp saatini ayarlayabilir; bu nedenle kanıt değildir.',
  invalid:
    'Bu kaydın en az bir denetimi başarısız oldu; bu sayfadaki hiçbir şey kanıtlanmış değildir. İlk başarısız denetim:',
  invalidPackage: 'Dosyanın başka bir yeri bir denetimden geçemedi. Dosyanın tam raporunu okuyun.',
  undecided:
    'Bu kaydın hiçbir denetimi başarısız olmadı; ancak şunlar karara bağlanamadı, bu nedenle kanıtlanmış değildir:',
  undecidedFile:
    'Bu kaydın hiçbir denetimi başarısız olmadı; ancak dosyanın bütünü kanıtlanmış değildir. Dosyanın tam raporunu okuyun.',
  limits:
    'Cihazı kimin kullandığını, o kişinin ne zaman karar verdiğini, sonradan veya başka yerde başka kayıt olmadığını kanıtlamaz.',
  nothingByItself: 'Bu kâğıt tek başına hiçbir şey kanıtlamaz.',
  file: {
    valid: (file) => `Kanıt ${file} dosyasıdır.`,
    indeterminate: (file) => `${file} dosyası da, burada denetlendiği hâliyle, kanıtlamaz.`,
    invalid: (file) => `Bir denetimden geçemeyen ${file} dosyası da kanıtlamaz.`,
  },
  howToCheck: 'Dosyayı ağ bağlantısı olmadan consent-verify ile veya aynı adlı sayfayla denetleyin. SHA-256 özeti:',
  verifiers: {
    command: (version) => `consent-verify ${version} ile hazırlandı; kendi bildirdiği SHA-256 özeti:`,
    page: (version) => `consent-verify ${version} sayfasıyla hazırlandı; betiğinin kendi bildirdiği SHA-256 özeti:`,
  },
  verifierUnknown: (version) => `consent-verify ${version} ile hazırlandı; program kendi SHA-256 özetini bilmiyor.`,
  genuine:
    'Gerçek özetler, nasıl derlendiklerinin onayıyla birlikte sürümün consent-verify.digests.txt dosyasındadır. İşletenin veya bu dosyanın bildirdiğiyle değil, sürümle karşılaştırın.',
  signature: ['Yer ve tarih', 'Ad ve görev', 'İmza'],
  utc: 'Tüm saatlerde UTC esastır.',
};
