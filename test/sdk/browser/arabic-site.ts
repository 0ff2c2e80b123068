import type { Appearance } from '../../../schemas/banner/appearance.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { publishSiteConfig, type SiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { draftVersion } from '../../../src/tenancy/documents/drafts.js';
import { activateVersion, publishVersion } from '../../../src/tenancy/documents/version-states.js';
import type { RunningApp } from '../../api/server/running-app.js';

type Texts = Readonly<Record<string, string>>;

const ARABIC: Readonly<Record<string, { title: string; purpose: string }>> = {
  necessary: { title: 'ضرورية', purpose: 'لتعمل سلة التسوق وتسجيل الدخول.' },
  analytics: { title: 'إحصاءات', purpose: 'لإحصاء الزيارات.' },
  marketing: { title: 'إعلانات', purpose: 'لعرض إعلانات تناسب اهتماماتك.' },
};

/** The demonstration's configuration, in Arabic as well, with the texts of `banner`. */
function inArabic(): SiteConfig {
  const also = (texts: Texts, ar: string): Record<string, string> => ({ ...texts, ar });
  return {
    ...DEMO_CONFIG,
    languages: ['en', 'tr', 'ar'],
    banner: {
      ...DEMO_CONFIG.banner,
      ar: { title: 'خيارك', text: 'هل يمكننا استخدام ملفات تعريف الارتباط؟', accept: 'قبول الكل', reject: 'رفض الكل' },
    },
    withdrawal: also(DEMO_CONFIG.withdrawal, 'افتح الإعدادات في أسفل أي صفحة.'),
    categories: DEMO_CONFIG.categories.map((category) => ({
      ...category,
      title: also(category.title, ARABIC[category.key]?.title ?? ''),
      purpose: also(category.purpose, ARABIC[category.key]?.purpose ?? ''),
    })),
    cookies: (DEMO_CONFIG.cookies ?? []).map((cookie) => ({
      ...cookie,
      purpose: also(cookie.purpose, 'لتذكّر اختيارك.'),
    })),
  };
}

/** Adds Arabic to the demonstration's site: configuration and cookie policy. @param appearance of its banner */
export async function addArabic(app: RunningApp, demo: SeededDemo, appearance?: Appearance): Promise<void> {
  const db = app.service.installation.adminPool;
  const policy = demo.documents.find(({ kind }) => kind === 'cookie_policy');
  if (policy === undefined) throw new Error('the demonstration has no cookie policy');
  const { id } = await draftVersion(db, {
    siteId: demo.site.id,
    documentId: policy.id,
    language: 'ar',
    title: 'سياسة ملفات تعريف الارتباط',
    mediaType: 'text/plain',
    content: 'يحتاج المتجر إلى بعض ملفات تعريف الارتباط.',
  });
  await publishVersion(db, demo.site.id, id);
  await activateVersion(db, demo.site.id, id);
  const look = appearance === undefined ? {} : { appearance };
  await publishSiteConfig(db, demo.site.id, { ...inArabic(), ...look }, { forAnyDomain: true });
}
