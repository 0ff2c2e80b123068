import type { audit as English } from '../en/audit.js';

export const audit: typeof English = {
  title: 'Denetim günlüğü',
  lead: 'Her değişiklik ve her görüntüleme, en yenisi başta. Girdiler asla değiştirilmez ve silinmez.',
  list: 'Girdiler',
  action: 'Yapılan işlem',
  actor: 'Yapan',
  actors: { user: 'Kullanıcı', operator: 'Hizmetin işletmecisi', service: 'Hizmet' },
  subject: 'Konu',
  details: 'Ayrıntılar',
  filterAction: 'İşlem',
  filterHint: 'Örneğin site.create. Boşsa tümü.',
  none: 'Eşleşen girdi yok.',
};
