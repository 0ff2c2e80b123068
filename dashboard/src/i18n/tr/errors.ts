/** The refusals of the service, which explains them in English, by code. */
export const errors: Readonly<Record<string, string>> = {
  NO_ANSWER: 'Hizmet yanıt vermedi. Bağlantınızı denetleyip yeniden deneyin.',
  INTERNAL_ERROR: 'Hizmette bir hata oluştu. Yeniden deneyin; hata sürerse hizmetin işletmecisine bildirin.',
  SERVICE_UNAVAILABLE: 'Hizmet şu anda kullanılamıyor. Birazdan yeniden deneyin.',
  VALIDATION_ERROR: 'Bazı alanların düzeltilmesi gerekiyor.',
  BAD_REQUEST: 'Hizmet isteği anlayamadı.',
  REQUEST_TIMEOUT: 'İstek zaman aşımına uğradı. Yeniden deneyin.',
  INVALID_CREDENTIALS: 'E-posta adresi veya parola yanlış.',
  PASSKEY_INVALID: 'Bu geçiş anahtarı kabul edilmedi. Parolanızla oturum açın.',
  PASSKEYS_NOT_CONFIGURED: 'Bu kurulumda geçiş anahtarı kullanılamıyor.',
  SECOND_FACTOR_INVALID: 'Kod ya da geçiş anahtarı yanlış ya da daha önce kullanılmış.',
  SECOND_FACTOR_REQUIRED: 'İkinci bir doğrulama gerekiyor.',
  SIGN_UP_CLOSED: 'Bu kurulum yalnızca davetle kullanıcı alıyor.',
  SIGN_UP_INVALID:
    'Bu kayıt geçerli değil. Süresi dolmuş, daha önce tamamlanmış ya da adresi kullanılamıyor olabilir. Yeniden kaydolun ya da oturum açın.',
  MAIL_NOT_CONFIGURED: 'Hizmet e-posta göndermiyor.',
  PROOF_OF_WORK_REQUIRED: 'Şu anda çok sayıda hesap oluşturuluyor. Yeniden deneyin.',
  TOO_MANY_SIGN_IN_ATTEMPTS:
    'Bu adresten veya bu hesap için çok fazla oturum açma, kayıt ya da parola sıfırlama denemesi yapıldı. Bir dakika bekleyip yeniden deneyin.',
  RATE_LIMIT_EXCEEDED: 'Bir dakikada çok fazla istek gönderildi. Biraz bekleyip yeniden deneyin.',
  TENANT_LIMIT_EXCEEDED: 'Bugün için izin verilen kuruluş sayısına ulaşıldı.',
  EXPORT_LIMIT_EXCEEDED: 'Aynı anda izin verilen dışa aktarma sayısına ulaşıldı. Biri bitince yeniden deneyin.',
  INVITATION_INVALID:
    'Bu davet geçerli değil. Süresi dolmuş ya da daha önce kullanılmış olabilir. Yeni bir davet isteyin.',
  PASSWORD_RESET_INVALID:
    'Bu kod geçerli değil. Süresi dolmuş ya da daha önce kullanılmış olabilir. Yeni bir kod isteyin.',
  MISSING_BEARER_TOKEN: 'Oturumunuz sona erdi. Yeniden oturum açın.',
  INVALID_BEARER_TOKEN:
    'Oturumunuz sona erdi. Başka bir sekmede yeniden oturum açıp buradaki işlemi yineleyin: yazdıklarınız bu sayfada duruyor.',
  INSUFFICIENT_ROLE: 'Rolünüz buna izin vermiyor. Kuruluşunuzun bir hesap sahibine başvurun.',
  ALREADY_EXISTS: 'Bu adda bir kayıt zaten var.',
  WRONG_STATE:
    'Kaydın durumu bu değişikliğe izin vermiyor ya da kayıt bu arada değişti. Son duruma bakıp yeniden deneyin.',
  DOMAIN_NOT_VERIFIED:
    'Alan adının kanıtı bulunamadı. DNS kaydını, dosyayı veya etiketi ve adresin başka bir yere yönlendirmediğini denetleyin. Yeni bir kaydın görünmesi birkaç dakika sürebilir.',
  SCAN_URL_REFUSED:
    'Bu adres taranamaz: sitenin kanıtlanmış alan adında değil ya da başka bir bağlantı noktası veya oturum bilgisi içeriyor.',
  SCAN_FAILED: 'Sayfa herkese açık bir adresten yüklenemedi ya da başka bir alan adına yönlendiriyor.',
  SCAN_LIMIT_EXCEEDED: 'Bu dakikanın taramaları kullanıldı. Biraz bekleyip yeniden deneyin.',
  SCAN_RECORDS_EXCEEDED:
    'Sitenin 24 saatlik kayıtlı taramaları kullanıldı. Sayfayı kaydetmeden tarayın ya da daha sonra yeniden deneyin.',
  SCANNER_BUSY: 'Başka sayfalar taranıyor. Birazdan yeniden deneyin.',
  DNS_UNAVAILABLE: 'DNS yanıt vermedi. Birazdan yeniden deneyin.',
  SITE_NOT_FOUND: 'Böyle bir site yok.',
  DOCUMENT_NOT_FOUND: 'Böyle bir belge yok.',
  VERSION_NOT_FOUND: 'Böyle bir sürüm yok.',
  CONSENT_NOT_FOUND: 'Böyle bir rıza kaydı yok.',
  RESOURCE_NOT_FOUND: 'Böyle bir kayıt yok.',
  ROUTE_NOT_FOUND: 'Böyle bir sayfa yok.',
  PAYLOAD_TOO_LARGE: 'Bu içerik çok büyük.',
  HEADERS_TOO_LARGE: 'İsteğin başlıkları çok büyük.',
  EXPORT_NOT_FINISHED: 'Dışa aktarma henüz bitmedi.',
  EVENT_GONE: 'İletinin kaydı silindi ya da olayı artık saklanmıyor: yeniden gönderilemez.',
  EXPORT_GONE: 'Paket artık saklanmıyor. Yeni bir dışa aktarma başlatın.',
  RECEIPT_NOT_READY: 'Makbuz, kayıt zaman damgası aldığında hazır olur. Birazdan yeniden deneyin.',
};
