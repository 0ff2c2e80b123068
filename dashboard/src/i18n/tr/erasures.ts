import type { erasures as English } from '../en/erasures.js';

export const erasures: typeof English = {
  title: 'Silme işlemleri',
  lead: 'Hangi kişisel verilerin ne zaman ve neden silindiği. Her silme defterde bir olaydır.',
  list: 'Silme işlemleri',
  emptyTitle: 'Henüz bir şey silinmedi',
  emptyText:
    'Bir silme talebini yanıtlamak için Rızalar bölümünde kişiyi arayın ve “Bu kişiyi sil” seçeneğini kullanın.',
  requested: 'Talep zamanı',
  reason: 'Neden',
  reasons: { person: 'Bir kişi', record: 'Tek kayıt', retention: 'Saklama süresi' },
  records: 'Kayıtlar',
  states: { pending: 'Sürüyor', finished: 'Tamamlandı' },
  receipt: 'Silme makbuzu',
  finished: 'Tamamlanma',
  erasedRecords: 'Silinen kayıtlar',
  destroyedPackages: 'Yok edilen dışa aktarmalar',
  backups: 'Yedekler',
  backupsUntil: (date) => `Yedekler verileri ${date} tarihine kadar içerebilir.`,
  statement: 'Beyan',
  statementLead: 'Kişiye verilecek yanıt için:',
  announcements: 'Defterde',
  announcementStates: {
    waiting: 'Henüz duyurulmadı',
    logged: 'Olay günlüğünde duyuruldu',
    sealed: 'Deftere mühürlendi',
    stamped: 'Zaman damgasıyla kanıtlandı',
  },
  print: 'Yazdır',
};
