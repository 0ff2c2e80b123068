import type { evidence as English } from '../en/evidence.js';

export const evidence: typeof English = {
  ledger: (origin, records, decisions) =>
    `Anahtarını verdiğiniz “${origin}” defteri ${records === 1 ? 'bu kaydı' : `bu ${records} kaydı`} içerir (${decisions}).`,
  unknownLedger: 'Defterin kime ait olduğu kanıtlanmadı. Tümünü işletmeciden başka biri hazırlamış olabilir.',
  imported: (records) => `${records} tanesi, önceki bir aracın bildirdiği gibi içe aktarılmış`,
  existed: (time, records, isTrial) =>
    `${records === 1 ? 'Kayıt' : 'Hepsi'} en geç ${time} (UTC) anında vardı${isTrial ? ' (bunu bir deneme makamı bildiriyor).' : '. Bunu hizmet değil, güvendiğiniz zaman damgası makamları bildirir.'}`,
  sealedAfter: (time, records) => `${records === 1 ? 'Kayıt' : 'Hepsi'} ${time} (UTC) anından sonra mühürlendi.`,
  unchanged: (records) =>
    records === 1
      ? 'O zamandan beri değiştirilmedi: kayıt, damgalanan özetle hâlâ eşleşiyor.'
      : 'O zamandan beri hiçbiri değiştirilmedi: her kayıt, damgalanan özetle hâlâ eşleşiyor.',
  madeFor: 'Hazırlanma nedeni',
  madeForText: (reason, role, name) =>
    `paketin beyanına göre: ${reason}; hazırlayan: ${role}${name === undefined ? '' : ` (“${name}”)`}`,
  reasons: {
    data_subject_request: 'ilgili kişinin talebi',
    regulator_request: 'bir denetim makamının talebi',
    court_proceedings: 'bir dava',
    controller_request: 'veri sorumlusunun talebi',
    internal_audit: 'bir iç denetim',
    migration: 'başka bir sisteme geçiş',
    other: 'başka bir neden',
  },
  roles: {
    owner: 'sahip rolündeki bir kullanıcı',
    admin: 'yönetici rolündeki bir kullanıcı',
    dpo: 'veri koruma görevlisi rolündeki bir kullanıcı',
    viewer: 'izleyici rolündeki bir kullanıcı',
    api_user: 'veri sorumlusunun bir arka ucu',
    command: 'işletmecinin komut satırı',
  },
  operator: 'Defterin işletmecisi (kendi beyanı)',
  notStated: 'bildirilmedi',
  qualified: 'Nitelikli zaman damgaları (işletmecinin beyanı)',
  qualifiedBy: (authority, list) =>
    `${authority}: işletmecinin beyanına göre eIDAS uyarınca nitelikli, bkz. ${list}. Bu denetlenmedi.`,
  witnessed: (witnesses, names, batches) =>
    `Güvendiğiniz ${witnesses} tanık (${names}) bu defteri ${batches} grupla gördü; defterin başka bir geçmişini görmedi.`,
  recomputed: (names, leaves) =>
    `İşletmecinin, defterin ilk ${leaves} grubuna ait özetlerini ${names} yeniden hesapladı: hiçbir şeyi dışarıda bırakmıyorlar.`,
  texts: 'Rıza verilen metinler yayımlandıkları gibi pakettedir ve defter yayımlanmalarını içerir.',
  scans: (scans, isWhole) =>
    `Defter, sitenin sayfalarına ait ${scans} taramayı hizmetin kaydettiği haliyle içeriyor.${isWhole ? ' Dışarıda bırakılan kayıtlı tarama yok.' : ''}`,
  disclosed: (values) => `Gösterilen kişisel veriler (${values} değer), kaydedilenlerdir.`,
  person: (records, person, isRecomputed) =>
    `Defterde “${person}” kişisinin tek bir kimliği altında ${records} kaydı var ve paket hepsini içeriyor: ${isRecomputed ? '' : 'işletmecinin özetlerine göre '}bu kimlik altında dışarıda bırakılan bir geri alma yok.`,
  erased: (records) => `${records} kaydın kişisel verileri silindi ve defter silme işlemini içeriyor.`,
  notWho: 'Kişinin kim olduğunu. Kayıtlar, hizmete bildirileni veya sitenin arka ucunun doğruladığını belirtir.',
  notWhen:
    'Kişinin ne zaman davrandığını. Zaman damgaları bir kaydın en geç ne zaman var olduğunu kanıtlar. Kayıttaki zaman (created_at) hizmetin beyanıdır.',
  notAll: 'Her rızanın kaydedildiğini. Eksiksizlik yalnızca olay günlüğündeki olaylar için kanıtlanabilir.',
  notImported: (records) =>
    `İçe aktarılmış ${records} rızanın sahiplerinin ne zaman ve nasıl karar verdiğini. Bunu önceki bir araç bildirdi; hizmet bildirimi içe aktarma sırasında mühürledi.`,
  notScanned:
    'Taranan sayfaların başka bir şey yerleştirmediği veya başkaları için de aynı davrandığı. Bir tarama, hizmetin bir sayfada bir anda gördüğünü bildirir.',
  notWitnessed:
    'Her alıcıya aynı geçmişin gösterildiğini. Bunu yalnızca güvendiğiniz bağımsız tanıklar onaylayabilir; böyle bir tanık bu paketteki en yeni durumu onaylamadı.',
  notIndependent: 'Tanıkların defterin işletmecisinden ve birbirlerinden bağımsız olduğunu.',
  notRecomputed:
    'İşletmecinin defter özetlerinin hiçbir şeyi dışarıda bırakmadığını. Bunu yalnızca özetleri yeniden hesaplayan ve güvendiğiniz bir tanık onaylayabilir; böyle bir tanık bu paketteki en yeni durumu onaylamadı.',
  notShownToOthers:
    'Başka bir alıcıya bunlardan birinin yerine başka bir kayıt gösterilmediğini. Bunu ortaya çıkarmak için paketleri consent-verify compare ile karşılaştırın.',
  notLaterOfPerson:
    'Kişinin o zamandan sonra veya başka bir kimlikle yaptıklarını. Kişinin sakladığı makbuzlarla karşılaştırın.',
  notLater: (count) =>
    `Paketteki ${count} rıza ve silme işleminden sonra kaydedilenleri. Paket daha sonrakini içermez.`,
  notComplete: (coverage) =>
    `Bunların sitenin veya bir kişinin tüm kayıtları olduğunu. Sonraki bir geri alma eksik olabilir.${coverage === null ? '' : ` ${coverage}`}`,
  notStamped: (consents) => `Paket hazırlandığında zaman damgası olmayan ${consents} rıza hakkında herhangi bir şeyi.`,
  notWithheld: (values) =>
    `Paketin göstermediği ${values} değerin içeriğini. Paket yalnızca bir değerin kaydedildiğini ve değişmediğini kanıtlar.`,
  notErased: (records) =>
    `Silinmiş ${records} kaydın kişisel verilerini. Paketin durumundan sonra duyurulan silme işlemleri pakette bilinmez.`,
  notInDispute:
    'Bir uyuşmazlıkta herhangi bir şeyi. Bu defteri bir geliştirme zaman damgası makamı damgaladı; böyle bir makamı herkes çalıştırabilir.',
  kinds: { consents: 'rızaları ve silme işlemleri', notices: 'metinleri ve yapılandırmaları' },
  hasAll: (count, kind, isRecomputed) =>
    `Sitenin ${kind}: ${isRecomputed ? '' : 'işletmecinin defter özetlerine göre '}defterde olanların tümü (${count}) pakettedir.`,
  hasFirst: (count, kind, end) => `Sitenin ${kind}: ilk ${count} tanesi pakettedir; ${end}.`,
  hasRanges: (ranges, kind, end) =>
    `Sitenin ${kind}: şu numaralar arasındakiler boşluksuz pakettedir: ${ranges}; ${end}.`,
  hasNotAll: (kind, end) => `Sitenin ${kind}: paket hepsini göstermiyor; ${end}.`,
  ledgerHas: (count) => `defterde ${count} tane var`,
  ledgerHasUnknown: 'defterde kaç tane olduğunu göstermiyor',
  moreRanges: (count) => `ve ${count} aralık daha`,
  endNotShown: 'paket nerede bittiğini göstermiyor',
  endEmpty: 'defterde hiç yok',
  endAt: (revision) => `defterde ${revision} numaralı revizyona kadar var`,
  wholeUpTo: (revision, isRecomputed) =>
    `${isRecomputed ? '' : 'işletmecinin özetlerine göre '}defterdeki sonuncusu olan ${revision} numaralı revizyona kadar eksiksiz`,
  completeUpTo: (revision, end) => `${revision} numaralı revizyona kadar eksiksiz; ${end}`,
  notShownComplete: (end) => `eksiksiz olduğu gösterilmedi; ${end}`,
  run: (first, last) => `${first}–${last}`,
  completeWithin: (runs, more, end) =>
    `yalnızca şu revizyonlar içinde eksiksiz: ${runs}${more === 0 ? '' : ` ve ${more} aralık daha`}; ${end}`,
  verdicts: (valid, indeterminate, invalid) => `${valid} geçerli, ${indeterminate} belirsiz, ${invalid} geçersiz`,
  work: (done, limit) => `en çok ${limit} birimden ${done} birim`,
  policy: (sealWithin, stampWithin, source) =>
    `${sealWithin} sn içinde mühürleme, ${stampWithin} sn içinde damgalama (${source})`,
  policyDefaults: 'varsayılanlar: pakette defterin ilkesi yok',
  policyNumber: (number) => `defterin ${number} numaralı ilkesi`,
  noCheckpoint: 'pakette denetim noktası yok',
  authorities: (count, checkpoint, demanded) =>
    `${checkpoint} numaralı denetim noktasını ${count} ayrı makam damgaladı; ilkenin istediği: ${demanded}`,
  witnesses: (count, checkpoint, demanded) =>
    `${checkpoint} numaralı denetim noktasını verdiğiniz tanıklardan ${count} tanesi imzaladı; ilkenin istediği: ${demanded}`,
  wholeSite: 'sitenin tümü',
  only: (conditions) => `yalnızca ${conditions}`,
  from: (time) => `${time} anından itibaren oluşturulanlar`,
  to: (time) => `${time} anından önce oluşturulanlar`,
  type: (type) => `türü ${type} olanlar`,
  version: (id) => `metin sürümü ${id} olanlar`,
  selected: (count) => `seçilen ${count} kayıt`,
  persons: (count) => `${count === 1 ? 'bir kişi' : `${count} kişi`}`,
  discloses: { all: 'tümü', none: 'hiçbiri' },
};
