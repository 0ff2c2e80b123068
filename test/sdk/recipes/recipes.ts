import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import {
  astroBuilt,
  nextBuilt,
  nuxtBuilt,
  type PageSite,
  type ServedPage,
  served,
  viteBuilt,
} from '../react/built-pages.js';

const EXAMPLES = fileURLToPath(new URL('../../../docs/examples/', import.meta.url));
const FILLED = fileURLToPath(new URL('../../../dist/frameworks/pages/', import.meta.url));

/** A recipe of docs/ten-minutes.md. */
export interface Recipe {
  /** Its name in the table of figures. */
  readonly title: string;
  readonly serve: (site: PageSite) => Promise<ServedPage>;
  /** What is asked for once the visitor accepted, and not before: addresses without query. */
  readonly tags: readonly string[];
  /** Whether the tag is a placeholder's content. */
  readonly hasPlaceholder?: true;
  /** Whether Consent Mode speaks in `dataLayer`. */
  readonly hasConsentMode?: true;
  /** What the visitor presses to see or send what waits: a selector. */
  readonly pressed?: string;
  /** Whether the page has the controls of the events' recipe. Nobody needs to know what it loads. */
  readonly hasControls?: true;
}

/** The configuration of a site that has the categories of all recipes. */
export const RECIPE_CONFIG = {
  ...DEMO_CONFIG,
  categories: [
    ...DEMO_CONFIG.categories,
    {
      key: 'media',
      required: false,
      title: { en: 'Media', tr: 'Medya' },
      purpose: { en: 'Films are shown on the page.', tr: 'Filmler sayfada gösterilir.' },
      lawful_basis: 'consent' as const,
      personal_data: ['IP address'],
      recipients: ['Google Ireland Ltd.'],
      retention_days: 180,
    },
  ],
};

/** A recipe that is HTML alone, with the site's own values in place of the printed ones. */
const ofHtml =
  (example: string) =>
  async ({ service, apiKey, port }: PageSite): Promise<ServedPage> => {
    const folder = join(FILLED, `filled-${example}`);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await cp(join(EXAMPLES, example), folder, { recursive: true });
    for (const name of await readdir(folder)) {
      const text = await readFile(join(folder, name), 'utf8');
      const filled = text.replaceAll('https://consent.example.org', service).replaceAll('svc_live_…', apiKey);
      await writeFile(join(folder, name), filled);
    }
    return served(folder, port);
  };

/** Those that need nothing but what the repository installs. */
export const RECIPES: readonly Recipe[] = [
  { title: 'A plain page', serve: ofHtml('plain'), tags: ['https://statistics.example/count.js'] },
  {
    title: 'A single-page app',
    serve: ofHtml('single-page'),
    tags: ['https://statistics.example/view', 'https://films.example/june'],
    pressed: 'a[href="/film"]',
    hasPlaceholder: true,
  },
  {
    title: 'React',
    serve: (site) => viteBuilt('react-vite', site),
    tags: ['/film.html'],
    hasPlaceholder: true,
  },
  {
    title: 'YouTube',
    serve: ofHtml('youtube'),
    tags: ['https://www.youtube-nocookie.com/embed/VIDEO'],
    hasPlaceholder: true,
  },
  {
    title: 'GA4',
    serve: ofHtml('ga4'),
    tags: ['https://www.googletagmanager.com/gtag/js', 'https://region1.google-analytics.com/g/collect'],
    hasConsentMode: true,
  },
  {
    title: 'Meta pixel',
    serve: ofHtml('meta-pixel'),
    tags: ['https://connect.facebook.net/en_US/fbevents.js', 'https://www.facebook.com/tr/'],
  },
  {
    title: 'Matomo',
    serve: ofHtml('matomo'),
    tags: ['https://matomo.example/matomo.js', 'https://matomo.example/matomo.php'],
  },
  {
    title: 'Events',
    serve: ofHtml('events'),
    tags: ['https://statistics.example/basket'],
    pressed: '#basket',
    hasControls: true,
  },
];

/** Those of frameworks that the test installs first. */
export const FRAMEWORK_RECIPES: readonly Recipe[] = [
  { title: 'Next.js', serve: (site) => nextBuilt('react-next', site), tags: ['/film.html'], hasPlaceholder: true },
  {
    title: 'Vue',
    serve: (site) => viteBuilt('vue', site, { isOfFrameworks: true }),
    tags: ['/film.html'],
    hasPlaceholder: true,
  },
  {
    title: 'Nuxt',
    serve: (site) => nuxtBuilt('nuxt', site),
    tags: ['https://statistics.example/count.js', 'https://films.example/june'],
    hasPlaceholder: true,
  },
  {
    title: 'Svelte',
    serve: (site) => viteBuilt('svelte', site, { isOfFrameworks: true }),
    tags: ['/film.html'],
    hasPlaceholder: true,
  },
  { title: 'Astro', serve: (site) => astroBuilt('astro', site), tags: ['https://statistics.example/count.js'] },
];
