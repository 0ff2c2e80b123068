import { controllerLines, printable, verifierPage } from './readme-facts.js';
import type { ReadmeOptions } from './readme-options.js';

/**
 * The part of README.txt in Turkish: what the package is, what is missing to check it and from whom
 * it comes, how to check it with the verifier, and what it does not prove. The commands by hand are
 * those of the English part.
 */
export function turkishReadme(options: ReadmeOptions): string {
  const { manifest, checkpoint, site, verifier } = options;
  const { counts } = manifest;
  const authorities = checkpoint?.stamps.map(({ authority }) => printable(authority)).join(', ') ?? null;
  const page = verifierPage(verifier);
  return `TÜRKÇE
======
Bu dosya tek başına hiçbir şey kanıtlamaz. Denetlemek için şunlar da gerekir:
- defterin açık anahtarı: “${printable(manifest.origin)}” defterinin işletmecisinden isteyin;
- zaman damgası makamının kök sertifikası${authorities === null ? '' : ` (${authorities})`}: makamın kendisinden alın.
İkisini de asla bu paketten almayın: sahtesini yapan, kendi anahtarını ve kökünü koyardı.
${
  manifest.development
    ? `
*** GELİŞTİRME: bu defterin zaman damgalarını bir geliştirme makamı verdi. Bu paket KANIT DEĞİLDİR. ***
`
    : ''
}
${controllerLines(site, { domain: 'Site', controller: 'Veri sorumlusu', contact: 'İletişim' })}Defter:         ${printable(manifest.origin)}
Hazırlanma:     ${manifest.exported_at}
İçindekiler:    ${counts.entries} girdi, bunların ${counts.consents} tanesi rıza; silinmiş rıza: ${counts.erased};${counts.key_lost === 0 ? '' : ` anahtarı kaybolmuş rıza: ${counts.key_lost};`} ek: ${counts.attachments}
Damgalanma:     ${
    checkpoint === null
      ? 'bu paket hazırlandığında defterin henüz zaman damgası yoktu: paket hiçbir zamanı kanıtlamaz'
      : `${checkpoint.stamps.map(({ genTime }) => genTime.toISOString()).join(', ')} (denetim noktası ${checkpoint.size})`
  }

NASIL DENETLENİR
1. Doğrulayıcıyı edinin: ${page === null ? 'defterin işletmecisi /verify adresinde sunar' : page}.
   Dosya olarak consent-verify.html${
     verifier === null
       ? '.'
       : `; bu hizmetle yayımlanan sürümün (${verifier.version}) SHA-256 özeti:
   ${verifier.pageSha256}`
   }
2. Ağ kapalıyken sayfayı açın; paketi, kök sertifikayı ve defterin anahtarını sayfaya bırakın.
   Komut satırında: consent-verify check PAKET.zip --tsa-ca KÖK.pem --ledger-key ANAHTAR --language tr
3. Elle denetlemek için yukarıdaki İngilizce bölümün komutlarını sırayla çalıştırın.

BU PAKETİN KANITLAMADIKLARI
- Bir kaydın içeriğinin doğru olduğunu: hizmet, kendisine bildirileni kaydetti.
- Bir rızanın tam zamanını: “created_at” hizmetin beyanıdır. Zaman damgaları bir kaydın en geç ne zaman
  var olduğunu kanıtlar.
- Her rızanın kaydedildiğini veya başka kayıt olmadığını: eksiksiz olduğu belirtilen aralıkların dışında
  kayıtlar, örneğin sonraki bir geri alma, eksik olabilir.
- Anahtarı işletmecisinden alınmadıkça defteri kimin işlettiğini; işletmecinin başkalarına ikinci bir
  geçmiş göstermediğini.
- Silinmiş veya gösterilmeyen bir değerin içeriğini.`;
}
