import type { PolicyTemplate } from './policy-template.js';

export const template: PolicyTemplate = {
  title: 'Çerez ve gizlilik politikası',
  content: `# Çerez ve gizlilik politikası

## Veri sorumlusu

Burada açıklanan işlemenin veri sorumlusu: [[who: veri sorumlusunun yasal adı ve adresi]].

## Neyi, hangi amaçla işliyoruz

Bu site, çalışması için gerekenleri sormadan kullanır. Diğer her şeyi yalnızca açık rızanızla kullanır.

[[what: her amaç için veriler ve çerezler, amacın kendisi ve hukuki sebep]]

## Verileri kimler alır

[[recipients: hangi verilerin kime, hangi ülkede ve hangi güvencelerle aktarıldığı]]

## Veriler ne kadar saklanır

[[periods: her amaç için saklama süresi veya bu sürenin nasıl belirlendiği]]

## Haklarınız

Açık rızanızı istediğiniz zaman çerez ayarlarından geri alabilirsiniz. Bu, geri almadan önceki işlemenin hukuka uygunluğunu etkilemez.

[[rights: ilgili kişilerin hakları, bunları nasıl kullanacakları ve nereye şikâyette bulunabilecekleri]]

## İletişim

[[contact: size ve varsa veri koruma görevlinize nasıl ulaşılacağı]]
`,
};
