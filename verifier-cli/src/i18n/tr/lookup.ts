import type { lookup as English } from '../en/lookup.js';

export const lookup: typeof English = {
  asking: 'Soruluyor …',
  recorded: (domain, when, decision) =>
    `${domain} web sitesi${when === null ? '' : ` ${when} anında`} “${decision}” kararını kaydetti.`,
  imported: (domain, tool, claimed, decision) =>
    `${domain} web sitesi, ${tool} aracından ${claimed === null ? '' : `${claimed} tarihli `}“${decision}” kararını aktardı: o aracın bildirimidir.`,
  unknownDomain: '(bilinmeyen)',
  noStamp: 'Hizmet, kaydı kapsayan bir zaman damgası henüz bildirmiyor.',
  stamp: (time) =>
    `Hizmet, kaydı ${time} anından beri bir zaman damgasının kapsadığını bildiriyor; kimin damgası olduğunu görmek için makbuzu denetleyin.`,
  notStampedYet: 'Kaydın henüz zaman damgası yok. Birkaç dakika sonra yeniden deneyin.',
  noReceipt: 'Hizmet makbuzu vermedi. Daha sonra yeniden deneyin.',
  unreachable: 'Hizmete ulaşılamadı. Bağlantınızı denetleyip yeniden deneyin.',
  unsupported: 'Hizmet, bu sayfanın desteklemediği bir yanıt verdi.',
  notFound: 'Hizmette bu koda, kanıt özetine veya kimliğe sahip bir kayıt yok.',
  tooMany: 'Çok fazla istek. Bir dakika bekleyip yeniden deneyin.',
  refused: (code) => `Hizmet isteği reddetti (${code}).`,
  clientToken: 'Bu bir istemci kodudur. Hiçbir kayda ait değildir; her istemci böyle bir kod oluşturabilir.',
  testToken:
    'Bu bir denemedir: sayfayı denemek için bir test anahtarıyla gönderildi. Hiçbir şeyi kanıtlamaz ve rıza değildir.',
  onRecord: (decision) => `Kayıtlı: ${decision}`,
  notIntact: 'Kayıtlı, ancak bütünlük denetimi başarısız',
  website: 'Web sitesi',
  kind: 'Tür',
  categories: 'Kategoriler',
  recordedAt: 'Kaydedilme',
  scope: 'Geçerli olduğu yer',
  ofAccount: 'kişinin hesabının tüm cihazları; kişiyi web sitesinin arka ucu doğruladı',
  validUntil: 'Geçerlilik sonu',
  stamped: 'Zaman damgası',
  notYet: 'henüz yok',
  by: (time) => `en geç ${time}`,
  withdrawal: 'Değiştirmek için',
  withdrawalLink: 'Bu seçimi değiştirin veya geri alın',
  personal: 'Kişisel veriler',
  erased: 'silindi',
  proofHash: 'Kanıt özeti',
  receiptSaved: 'Makbuz kaydedildi. Denetlemek için istediğiniz zaman bu sayfaya bırakın.',
  receiptChecked: 'Makbuz aşağıdaki denetime verildi; geçerli olan onun sonucudur.',
  receiptInvalid: 'Bu kaydın makbuzu denetimden geçemedi; bu yanıta güvenmeyin. Nedenini aşağıda okuyun.',
};
