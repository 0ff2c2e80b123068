import type { PolicyTemplate } from './policy-template.js';

/** A text of a site in Türkiye, with its document. */
interface KvkkText extends PolicyTemplate {
  readonly slug: string;
  readonly kind: 'privacy_notice' | 'consent_form';
}

/**
 * The notice (aydınlatma metni), which is shown and never decided on, and two acts of consent, each by itself: explicit
 * consent (açık rıza) and commercial messages (ticari elektronik ileti).
 */
export const KVKK_TEXTS: readonly KvkkText[] = [
  {
    slug: 'aydinlatma-metni',
    kind: 'privacy_notice',
    title: 'Aydınlatma metni',
    content: `# Aydınlatma metni

Bu metin bilgilendirir. Onaylanmaz, kabul veya reddedilmez.

## Veri sorumlusu

[[who: veri sorumlusunun ve varsa temsilcisinin yasal adı ve adresi]]

## Hangi veriler, hangi amaçla ve hangi hukuki sebeple işlenir

[[what: her amaç için veriler, toplama yöntemi ve hukuki sebep]]

## Veriler kimlere ve hangi amaçla aktarılır

[[recipients: alıcılar, aktarımın amacı, yurt dışına aktarım varsa güvenceleri]]

## Veriler ne kadar saklanır

[[periods: her amaç için saklama süresi]]

## Haklarınız

[[rights: ilgili kişinin hakları ve bunları nasıl kullanacağı]]

## Başvuru

[[contact: başvuruların hangi yolla ve hangi adrese yapılacağı]]
`,
  },
  {
    slug: 'acik-riza',
    kind: 'consent_form',
    title: 'Açık rıza',
    content: `# Açık rıza

[[who: veri sorumlusunun yasal adı]] tarafından şu verilerimin şu amaçla işlenmesine açık rıza veriyorum:

[[what: yalnızca rızaya dayanan veriler ve amaç]]

Rıza vermek zorunda değilim; vermemem hiçbir hizmetin koşulu değildir. Rızamı istediğim zaman geri alabilirim: [[contact: rızanın nasıl geri alınacağı]].
`,
  },
  {
    slug: 'ticari-ileti',
    kind: 'consent_form',
    title: 'Ticari elektronik ileti onayı',
    content: `# Ticari elektronik ileti onayı

[[who: gönderenin yasal adı]] tarafından bana şu yollarla ticari elektronik ileti gönderilmesini onaylıyorum:

[[what: yollar (SMS, e-posta, arama) ve iletilerin konusu]]

Onay vermek zorunda değilim; vermemem hiçbir hizmetin koşulu değildir. İletileri istediğim zaman reddedebilirim: [[contact: ret bildiriminin nasıl yapılacağı]].
`,
  },
];
