import type { statistics as English } from '../en/statistics.js';

export const statistics: typeof English = {
  title: 'İstatistik',
  lead: 'Sona ermiş bir ayın (UTC) kararları; başkalarına verilebilir: 10’dan küçük sayı yerine “10’dan az” yazar ve bu sayı diğerlerinden çıkarılamaz.',
  by: 'Neye göre',
  bys: {
    language: 'Dil',
    framework: 'Mevzuat',
    category: 'Kategori',
    type: 'Tür',
    channel: 'Kanal',
    version: 'Bandın sürümü',
  },
  month: 'Ay',
  beside: 'Karşılaştırılacak ay',
  noMonth: 'Karşılaştırma yok',
  show: 'Göster',
  rate: 'Kabul oranı',
  fewer: '10’dan az',
  hidden: 'Gösterilmiyor',
  hiddenHint:
    '“Gösterilmiyor”, 10 veya daha büyük olan ama toplamla birlikte daha küçük bir sayıyı ele verecek sayıdır.',
  version: (number) => `Sürüm ${number}`,
  below: (month) => `Her sayının altında: ${month}.`,
  none: 'Bu ayda rıza kaydedilmedi.',
  save: 'CSV olarak kaydet',
  limits: 'Sayılmayanlar',
  limitTexts: {
    optOuts:
      'Satışa itirazlar yalnızca tür tablosunda sayılır ve kabul oranına katılmaz: itirazı seçen, satışı reddetmiş olur.',
    imports: 'Aktarılan rızalar sayılmaz.',
    personal: 'Ülke, cihaz ve basılan düğme kişisel veridir: şifrelenir, silinebilir ve onlara göre sayım yapılmaz.',
    shown:
      'Bandın kaç kez gösterildiği bilinmez: önbellekler ve tarayıcılar metinlerini kendiliğinden ister; ziyaretçileri saymak için her cihazdan yeni bir sinyal gerekirdi.',
  },
};
