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
  reasons: { person: 'İlgili kişi', record: 'Tek kayıt', retention: 'Saklama süresi doldu' },
  records: 'Kayıtlar',
  states: { pending: 'Sürüyor', finished: 'Tamamlandı' },
  receipt: 'Silme makbuzu',
  finished: 'Tamamlanma',
  erasedRecords: 'Silinen kayıtlar',
  destroyedPackages: 'Yok edilen dışa aktarmalar',
  backups: 'Yedekler',
  backupsUntil: (date) => `Yedekler verileri ${date} tarihine kadar içerebilir.`,
  statement: 'Beyan',
  statementLead: 'İlgili kişiye verilecek yanıt için:',
  announcements: 'Defterde',
  announcementStates: {
    waiting: 'Henüz duyurulmadı',
    logged: 'Olay günlüğünde duyuruldu',
    sealed: 'Deftere mühürlendi',
    stamped: 'Zaman damgasıyla kanıtlandı',
  },
  print: 'Yazdır',
};
