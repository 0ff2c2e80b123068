import type { DOCUMENT_KINDS } from '../../../schemas/events/notices.js';
import type { SiteConfig } from '../../tenancy/configuration/publish-site-config.js';

/** A text of a demonstration document. */
export interface DemoVersion {
  readonly language: 'en' | 'tr';
  readonly title: string;
  readonly content: string;
  /** True if the version remains active; false if a later one retires it. */
  readonly isActive: boolean;
}

export interface DemoDocument {
  readonly slug: string;
  readonly kind: (typeof DOCUMENT_KINDS)[number];
  readonly requiresApprovalToken: boolean;
  /** In the order of their publication. */
  readonly versions: readonly DemoVersion[];
}

/** The documents of the demonstration site. */
export const DEMO_DOCUMENTS: readonly DemoDocument[] = [
  {
    slug: 'cookie-policy',
    kind: 'cookie_policy',
    requiresApprovalToken: false,
    versions: [
      {
        language: 'en',
        title: 'Cookie policy',
        content: 'We set cookies that the shop needs, and others if you agree.',
        isActive: false,
      },
      {
        language: 'en',
        title: 'Cookie policy',
        content: 'The shop needs some cookies. We count visits and show advertisements only if you agree.',
        isActive: true,
      },
      {
        language: 'tr',
        title: 'Çerez politikası',
        content:
          'Mağazanın bazı çerezlere ihtiyacı var. Ziyaretleri yalnızca kabul ederseniz sayar, reklam gösteririz.',
        isActive: true,
      },
    ],
  },
  {
    slug: 'explicit-consent',
    kind: 'consent_form',
    requiresApprovalToken: true,
    versions: [
      {
        language: 'en',
        title: 'Explicit consent',
        content: 'I agree that my contact details are used to send me offers.',
        isActive: false,
      },
      {
        language: 'en',
        title: 'Explicit consent',
        content: 'I agree that my name and e-mail address are used to send me offers, until I withdraw this.',
        isActive: true,
      },
      {
        language: 'tr',
        title: 'Açık rıza',
        content:
          'Geri alana kadar adımın ve e-posta adresimin bana teklif göndermek için kullanılmasını kabul ediyorum.',
        isActive: true,
      },
    ],
  },
];

/** The configuration of the demonstration site. */
export const DEMO_CONFIG: SiteConfig = {
  controller: { legal_name: 'Demonstration Shop Ltd.', contact: 'privacy@shop.example' },
  default_language: 'en',
  languages: ['en', 'tr'],
  validity_days: 365,
  banner: {
    en: { title: 'Your choice', text: 'May we use cookies?', accept: 'Accept all', reject: 'Reject all' },
    tr: { title: 'Seçiminiz', text: 'Çerez kullanabilir miyiz?', accept: 'Tümünü kabul et', reject: 'Tümünü reddet' },
  },
  withdrawal: {
    en: 'Open “Cookie settings” at the foot of any page.',
    tr: 'Herhangi bir sayfanın altındaki “Çerez ayarları”nı açın.',
  },
  categories: [
    {
      key: 'necessary',
      required: true,
      title: { en: 'Necessary', tr: 'Gerekli' },
      purpose: { en: 'The basket and signing in work.', tr: 'Sepet ve oturum açma çalışır.' },
      lawful_basis: 'contract',
      personal_data: ['session identifier'],
      recipients: [],
      retention_days: 30,
    },
    {
      key: 'analytics',
      required: false,
      title: { en: 'Statistics', tr: 'İstatistik' },
      purpose: { en: 'Visits are counted.', tr: 'Ziyaretler sayılır.' },
      lawful_basis: 'consent',
      personal_data: ['pages visited', 'shortened IP address'],
      recipients: ['Demonstration Analytics Ltd.'],
      retention_days: 365,
    },
    {
      key: 'marketing',
      required: false,
      title: { en: 'Advertising', tr: 'Reklam' },
      purpose: { en: 'Advertisements fit your interests.', tr: 'Reklamlar ilginize göre seçilir.' },
      lawful_basis: 'consent',
      personal_data: ['pages visited', 'advertising identifier'],
      recipients: ['Demonstration Ads Ltd.'],
      retention_days: 180,
    },
  ],
  cookies: [
    {
      name: 'shop_session',
      provider: 'Demonstration Shop Ltd.',
      category: 'necessary',
      party: 'first',
      duration_seconds: null,
      purpose: { en: 'Keeps the basket and the sign-in.', tr: 'Sepeti ve oturumu hatırlar.' },
    },
    {
      name: '_visits',
      provider: 'Demonstration Analytics Ltd.',
      category: 'analytics',
      party: 'first',
      duration_seconds: 31_536_000,
      purpose: { en: 'Tells visits apart to count them.', tr: 'Ziyaretleri saymak için ayırt eder.' },
    },
    {
      name: '_ads_*',
      provider: 'Demonstration Ads Ltd.',
      category: 'marketing',
      party: 'third',
      duration_seconds: 15_552_000,
      purpose: {
        en: 'Remembers which advertisements interest you.',
        tr: 'Hangi reklamların ilginizi çektiğini hatırlar.',
      },
    },
  ],
};
