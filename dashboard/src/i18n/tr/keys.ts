import type { keys as English } from '../en/keys.js';

export const keys: typeof English = {
  title: 'API ve Entegrasyonlar',
  lead: 'Sayfalarınızın ve arka ucunuzun rıza kaydetmek için kullandığı anahtarlar.',
  list: 'API anahtarları',
  add: 'Anahtar oluştur',
  emptyTitle: 'Bu sitenin henüz API anahtarı yok',
  emptyText:
    'Sayfalarınız için yayımlanabilir bir anahtar oluşturun. Rızaları arka ucunuz kaydediyorsa gizli bir anahtar oluşturun.',
  emptyReader: 'Anahtarları kuruluşunuzun sahibi veya yöneticisi oluşturur.',
  name: 'Ad',
  nameHint: 'Anahtarın kullanıldığı yer, örneğin “mağazanın sayfaları”.',
  kind: 'Anahtarın kullanıldığı yer',
  kinds: {
    publishable: 'Yayımlanabilir: yalnızca tarayıcılarda',
    secret: 'Gizli: yalnızca arka ucunuzda',
  },
  places: { publishable: 'Tarayıcılar', secret: 'Arka ucunuz', both: 'Her ikisi' },
  usedIn: 'Kullanıldığı yer',
  scope: 'Yetkiler',
  scopes: { write: 'Rıza kaydetme', read: 'Yalnızca okuma' },
  mode: 'Kayıtlar',
  modes: { live: 'Gerçek', test: 'Test' },
  testText:
    'Test anahtarı kullanan bir sayfa veya arka uç yalnızca test kayıtlarını görür ve değiştirir. Bunlar kanıt değildir ve 30 gün saklanır. Alan adınızda, izin verilen kaynaklarda ve gerçek bir anahtarla kayıt yapmış her sunucuda, test anahtarı olan bir sayfa isteğe bağlı hiçbir şeye izin vermez: yayındaki bir site hiç rıza toplayamaz. localhost ve 127.0.0.1 üzerindeki sayfalar bunun dışındadır.',
  testOnLiveHost: (key: string, host: string) =>
    `${host} üzerindeki bir sayfada “${key}” test anahtarı var. Sayfa isteğe bağlı hiçbir şeye izin vermiyor ve rıza toplamıyor. Ona gerçek bir anahtar verin.`,
  key: 'Anahtar',
  lastUsed: 'Son kullanım',
  show: 'Göster',
  cannotShow: 'Gösterilemiyor. Değiştirin veya yeni bir anahtar oluşturun.',
  states: {
    active: 'Etkin',
    unused: 'Hiç kullanılmadı',
    idle: 'Uzun süredir kullanılmadı',
    expired: 'Değiştirildi, süresi doldu',
    revoked: 'İptal edildi',
  },
  replaced: 'Değiştirildi, hâlâ çalışıyor',
  until: 'bitiş:',
  newKey: 'Yeni anahtarınız',
  rotate: 'Değiştir',
  rotateText: 'Yeni bir anahtar oluşturulur. Eskisi, yenisini yerleştirebilmeniz için aşağıdaki süre boyunca çalışır.',
  grace: 'Eski anahtarın çalışacağı süre',
  graces: { none: 'hiç', day: 'bir gün', week: 'bir hafta', month: '30 gün' },
  revoke: 'İptal et',
  revokeText:
    'Anahtar bir saniye içinde çalışmaz olur. Onu kullanan sayfalar ve arka uçlar artık rıza kaydedemez. İptal edilen anahtar geri getirilemez.',
  shownAgain: 'Bu anahtarı sayfalarınızın kaynağında herkes okuyabilir. Listede yeniden görebilirsiniz.',
  done: 'Anahtarı kopyaladım',
  conflicts: 'İki kez kullanılan tekrarlama anahtarları',
  conflictsLead:
    'Son 30 günde bir istemci, bir tekrarlama anahtarını (idempotency_key) başka bir rızayla yeniden gönderdi. Hizmet ilk rızayı sakladı, diğerini kaydetmedi.',
  conflictsAdvice:
    'Kişinin her işlemi için yeni bir anahtar kullanın: rızanın anahtarıyla gönderilen geri alma kaydedilmez. Saklanan her rızayı kendi sisteminizdekiyle karşılaştırın ve eksik kararı yeni bir anahtarla gönderin.',
  keptConsent: 'Saklanan rıza',
  conflictKey: 'API anahtarı',
  notRecorded: 'Kaydedilmeyen istekler',
  firstConflict: 'İlk',
  lastConflict: 'Son',
  integrate: 'Kullanmaya başlayın',
  integrateLead:
    'Gerçek kayıtlar için en yeni yayımlanabilir anahtar koda yazılır. Gizli anahtar yalnızca az önce oluşturduysanız yazılır; aksi halde yerine kendi anahtarınızı yazın.',
  placeholder: 'ANAHTARINIZ',
  browser: 'Sayfalarınızda',
  browserText:
    'Bu satırı her sayfanın head bölümüne ekleyin. Bandı gösterir ve seçimi kaydeder. Yayımlanabilir bir anahtar kullanın.',
  gated: 'İzin bekleyen bir betiğin türü text/plain olur ve kategorisini belirtir:',
  policy: 'İçerik güvenliği politikası',
  policyText:
    'Sayfalarınızın bir içerik güvenliği politikası (Content-Security-Policy) varsa betiğe ve isteklerine izin vermelidir. Bu politika, bunun dışında yalnızca kendi kaynağından yükleyen bir sayfa için eksiksizdir:',
  policyByOrigin: 'Hizmetin kaynağına göre içerik güvenliği politikası',
  policyByNonceText: (nonce: string) =>
    `Sunucunuz her yanıt için bir nonce üretiyorsa onu ${nonce} yerine yazın; yukarıdaki betiğe ve izin bekleyen betiklere de ekleyin (nonce="${nonce}"). Sayfanın içine yazılmış betikler yalnızca böyle çalışır:`,
  policyByNonce: 'Nonce ile içerik güvenliği politikası',
  policyOfYours:
    'Bant hiçbir stile, görsele veya çerçeveye ihtiyaç duymaz. İzin bekleyen içerik sizindir: betiklerinin adreslerini script-src, çerçevelerinin adreslerini frame-src yönergesine ekleyin, diğerlerini de aynı biçimde. Bu sayfa o adresleri bilmez.',
  trustedTypes:
    'require-trusted-types-for kullanıldığında bant olduğu gibi çalışır. İzin bekleyen betikler için ise sayfanızın bir varsayılan ilkesi (default policy) olmalıdır.',
  node: 'Arka ucunuzda (Node)',
  nodeText: '@consent-ledger/node paketini kurun. Gizli bir anahtar ve API kullanıcısı rolünde bir kullanıcı kullanın.',
  others: 'Diğer diller için arayüzün tanımını kullanın:',
};
