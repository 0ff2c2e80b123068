import type { plan as English } from '../en/plan.js';

export const plan: typeof English = {
  title: 'Plan ve kullanım',
  lead: 'Planları hizmetin işletmecisi belirler.',
  current: 'Planınız',
  none: 'Kuruluşunuzun planı yok: rızalar reddedilir. Hizmetin işletmecisine başvurun.',
  name: 'Planın adı',
  active: 'Etkin',
  inactive: 'Etkin değil: rızalar reddedilir',
  quota: 'Aylık rıza sayısı',
  rate: 'Dakikadaki istek sayısı',
  used: 'Bu ay kullanılan',
  left: 'Bu ay kalan',
  unlimited: 'Sınırsız',
  usage: 'Kullanım',
  month: 'Ay',
  consents: 'Rızalar',
  noUsage: 'Henüz rıza sayılmadı.',
};
