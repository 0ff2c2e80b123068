import type { erasures as English } from '../en/erasures.js';

export const erasures: typeof English = {
  title: 'Silme işlemleri',
  lead: 'Hangi kişisel verilerin ne zaman ve neden silindiği. Her silme defterde bir olaydır.',
  list: 'Silme işlemleri',
  emptyTitle: 'Henüz bir şey silinmedi',
  emptyText:
    'İlgili kişinin silme talebini yanıtlamak için Rızalar bölümünde kişiyi arayın ve “Bu kişinin verilerini sil” seçeneğini kullanın.',
  requested: 'Talep zamanı',
  reason: 'Neden',
  reasons: { person: 'Bir kişinin tüm kayıtları', record: 'Tek kayıt', retention: 'Saklama süresi doldu' },
  records: 'Kayıtlar',
  states: { pending: 'Sürüyor', finished: 'Tamamlandı' },
  receipt: 'Silme makbuzu',
  finished: 'Tamamlanma',
  erasedRecords: 'Silinen kayıtlar',
  destroyedPackages: 'Yok edilen dışa aktarmalar',
  backups: 'Yedekler',
  backupsUntil: (date) => `Yedekler verileri ${date} tarihine kadar içerebilir.`,
  statement: 'İlgili kişiye yanıt',
  statementLead: 'Bu metni yanıtınıza kopyalayabilirsiniz.',
  forPerson: {
    nothingFound: 'Rıza kayıtlarımızda size ait kişisel veri bulmadık.',
    erased: (date, count) =>
      `Kişisel verilerinizi ${date} tarihinde ${count} rıza kaydından sildik. Bunları artık okuyamayız.`,
    remnants: 'Olağan kullanımda okunmayan kalıntılar, temizlenene kadar teknik depolama alanımızda kalır.',
    backupsUntil: (date) => `Silmeden önceki yedek kopyalar verileri ${date} tarihine kadar içerebilir.`,
    backupsUnknown: 'Silmeden önceki yedek kopyalar verileri bir süre daha içerebilir.',
    copies: 'Silmeden önce, örneğin bir makama verilmiş kopyalar bundan etkilenmez.',
    stays: 'Bir seçim yapıldığını ve zamanını, size ait olduğunu gösteren hiçbir şey olmadan saklarız.',
  },
  technical: 'Hizmetin işletmecisi için',
  technicalLead: 'Neyin yok edildiği ve neyin kalabileceği, teknik terimlerle.',
  inProgress: 'Silme işlemi sürüyor. Tamamlanan bölümü kesindir.',
  nothingFound: 'Silinecek kayıt bulunamadı ve hiçbir şey yok edilmedi.',
  keysDestroyed:
    'Silinen değerlerin anahtarları yok edildi. Bu değerleri artık ne hizmet ne de veritabanının bir kullanıcısı okuyabilir.',
  keysSampled:
    'Silinen değerlerin anahtarları yok edildi. Ancak veritabanının şeması değiştirildiği için sorgu planlayıcısının istatistiklerinde anahtar örnekleri var. Ana anahtarı olan bir veritabanı kullanıcısı, işletmeci “consent-ledger admin scrub” komutunu çalıştırana kadar bazı değerleri okuyabilir.',
  notScrubbed:
    'Veritabanının dosyaları ve WAL kayıtları, işletmeci “consent-ledger admin scrub” komutunu çalıştırana kadar silinen baytları içerebilir.',
  scrubbed: (date) =>
    `Silinen baytlar ${date} itibarıyla veritabanının dosyalarından kaldırıldı. WAL kayıtları, bölümleri yeniden kullanılana kadar bunları içerebilir.`,
  backupsUnknown:
    'Silmeden önce alınmış veritabanı yedekleri değerleri hâlâ gösterebilir. Yedeklerin saklama süresi yapılandırılmamış: yedekleri yöneten kişiye sorun.',
  noBackups: 'İşletmeci veritabanının yedeğini tutmuyor.',
  backupsRemain: (date, days) =>
    `Silmeden önce alınmış veritabanı yedekleri değerleri ${date} tarihine kadar gösterebilir. Bu, işletmecinin her yedeği yapılandırıldığı gibi başlangıcından ${days} gün sonra yok etmesine bağlıdır.`,
  copies:
    'Silmeden önce indirilmiş veya dışa aktarılmış kanıt paketleri değişmez. Bunlardan paketleri elinde tutanlar sorumludur.',
  announcements: 'Defterde',
  announcementStates: {
    waiting: 'Henüz duyurulmadı',
    logged: 'Olay günlüğünde duyuruldu',
    sealed: 'Deftere mühürlendi',
    stamped: 'Zaman damgası aldı',
  },
  print: 'Yazdır',
};
