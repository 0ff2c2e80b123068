import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import * as z from 'zod';
import type { EmbeddedPostgres } from '../src/platform/database/embedded/index.js';
import type { SiteFixture } from '../test/pipeline/admission/site-fixture.js';
import { ChromiumPage, chromiumPath } from '../test/support/chromium.js';
import { installPackages } from './install-packages.js';
import { median } from './report.js';
import { openServeBench } from './serve.js';

/** Exact versions, so that two runs measure the same programs. */
const PACKAGES = {
  '@c15t/react': '2.2.1',
  esbuild: '0.28.2',
  klaro: '0.7.22',
  react: '19.3.1',
  'react-dom': '19.3.1',
  'vanilla-cookieconsent': '3.1.0',
};
const LOADS = Number(process.env.BENCH_LOADS ?? '20');
/** A slow phone: processor time × 4, and the network that Lighthouse calls "slow 4G". */
const PROCESSOR = 4;
const NETWORK = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
/** Milliseconds of one task, and from a press to the next paint, that people begin to notice. */
const LONGEST_TASK = 50;
const LONGEST_PRESS = 100;

/** One way to put a banner on the page. */
interface Snippet {
  readonly name: string;
  /** Of the page's `head` and `body`, as the documentation of the product writes them. */
  readonly head: string;
  readonly body: string;
  /** The script whose arrival starts the second clock. */
  readonly script: string;
  /** An expression: the banner's box, or its button that accepts, once they are drawn. */
  readonly box: string;
  readonly accept: string;
}

const Load = z.object({
  /** Milliseconds since the navigation: the script was there; the banner's first frame was. */
  script: z.number(),
  banner: z.number(),
  shift: z.number(),
  longest: z.number(),
  press: z.number(),
  bytes: z.number(),
  requests: z.number(),
});
type Load = z.infer<typeof Load>;

/**
 * Measures in Chromium, as on a slow phone, when the banner is painted: of a started service and of other products, by
 * their own documented snippets, on one page, in alternating loads, without a cache and with one (the visitor is new
 * in both). npm installs the other products into a temporary folder.
 * @throws Error if there is no Chromium, or npm cannot install the packages
 */
export async function benchBanner(postgres: EmbeddedPostgres, key: Uint8Array, site: SiteFixture): Promise<void> {
  if (chromiumPath === undefined) throw new Error('The banner is measured in Chromium, which is not installed.');
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-bench-banner-'));
  try {
    const files = await peers(folder);
    const bench = await openServeBench(postgres, Buffer.from(key), site);
    const snippets = [...own(`http://localhost:${bench.serve.port}`, site.writeKey), ...others()];
    const server = await servePages(snippets, files);
    const browser = await ChromiumPage.open(chromiumPath, ['--window-size=390,844']);
    try {
      await browser.send('Page.addScriptToEvaluateOnNewDocument', { source: `(() => {${OBSERVE}})()` });
      await browser.send('Emulation.setCPUThrottlingRate', { rate: PROCESSOR });
      await browser.send('Network.emulateNetworkConditions', NETWORK);
      const { port } = server.address() as AddressInfo;
      for (const isCached of [false, true]) print(isCached, await measure(browser, port, snippets, isCached));
    } finally {
      await browser.close();
      server.close();
      await bench.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function own(service: string, key: string): readonly Snippet[] {
  const script = `${service}/sdk/consent.js`;
  const banner = `document.querySelector('consent-banner')?.shadowRoot`;
  const common = {
    body: '',
    script,
    box: `${banner}?.querySelector('[role=dialog],.banner,section')`,
    accept: `[...${banner}.querySelectorAll('button')].find((one) => /accept/i.test(one.textContent))`,
  };
  const tag = `<script src="${script}" data-api-key="${key}"></script>`;
  const ahead = `<link rel="preload" as="fetch" crossorigin href="${service}/tool/v1/config?language=en&key=${key}">`;
  return [
    { ...common, name: 'Consent Ledger', head: ahead + tag },
    { ...common, name: 'Consent Ledger, one line', head: tag },
  ];
}

function others(): readonly Snippet[] {
  return [
    {
      name: `cookieconsent ${PACKAGES['vanilla-cookieconsent']}`,
      head: '<link rel="stylesheet" href="/cookieconsent.css">',
      body: '<script type="module" src="/cookieconsent-config.js"></script>',
      script: '/cookieconsent.umd.js',
      box: `document.querySelector('#cc-main .cm')`,
      accept: `document.querySelector('#cc-main .cm [data-role=all]')`,
    },
    {
      name: `Klaro ${PACKAGES.klaro}`,
      head: '<script defer src="/klaro-config.js"></script><script defer src="/klaro.js"></script>',
      body: '',
      script: '/klaro.js',
      box: `document.querySelector('.klaro .cookie-notice')`,
      accept: `document.querySelector('.klaro .cm-btn-success')`,
    },
    {
      name: `c15t ${PACKAGES['@c15t/react']} without a server, with React`,
      head: '<link rel="stylesheet" href="/c15t.css">',
      body: '<div id="root"></div><script type="module" src="/c15t.js"></script>',
      script: '/c15t.js',
      box: `document.querySelector('[data-testid=consent-banner-root]') ?? document.querySelector('[role=dialog]')`,
      accept: `[...document.querySelectorAll('button')].find((one) => /accept/i.test(one.textContent))`,
    },
  ];
}

/** Installs the other products, and bundles what their documentation bundles. @returns files by path */
async function peers(folder: string): Promise<Readonly<Record<string, Uint8Array>>> {
  await installPackages(folder, PACKAGES);
  const modules = join(folder, 'node_modules');
  await writeFile(join(folder, 'c15t.jsx'), C15T);
  await writeFile(join(folder, 'c15t-styles.css'), '@import "@c15t/react/styles.css";');
  const options = ['--bundle', '--minify', '--format=esm', '--jsx=automatic', '--outdir=out'];
  await promisify(execFile)(
    'npx',
    ['esbuild', 'c15t.jsx', 'c15t-styles.css', ...options, '--define:process.env.NODE_ENV="production"'],
    {
      cwd: folder,
    },
  );
  const file = (name: string): Promise<Uint8Array> => readFile(join(modules, name));
  return {
    '/cookieconsent.css': await file('vanilla-cookieconsent/dist/cookieconsent.css'),
    '/cookieconsent.umd.js': await file('vanilla-cookieconsent/dist/cookieconsent.umd.js'),
    '/cookieconsent-config.js': Buffer.from(COOKIECONSENT),
    '/klaro.js': await file('klaro/dist/klaro.js'),
    '/klaro-config.js': Buffer.from(KLARO),
    '/c15t.css': await readFile(join(folder, 'out/c15t-styles.css')),
    '/c15t.js': await readFile(join(folder, 'out/c15t.js')),
  };
}

const COOKIECONSENT = `import './cookieconsent.umd.js';
// A browser that a program drives counts as a robot, to which this product shows nothing.
CookieConsent.run({
  hideFromBots: false,
  categories: { necessary: { enabled: true, readOnly: true }, analytics: {}, marketing: {} },
  language: { default: 'en', translations: { en: {
    consentModal: { title: 'Cookies', description: 'Choose what we may use.', acceptAllBtn: 'Accept all',
      acceptNecessaryBtn: 'Reject all', showPreferencesBtn: 'Manage individual preferences' },
    preferencesModal: { title: 'Manage cookie preferences', acceptAllBtn: 'Accept all',
      acceptNecessaryBtn: 'Reject all', savePreferencesBtn: 'Accept current selection', closeIconLabel: 'Close',
      sections: [{ title: 'Necessary', description: 'To serve you', linkedCategory: 'necessary' },
        { title: 'Analytics', description: 'To serve you', linkedCategory: 'analytics' },
        { title: 'Marketing', description: 'To serve you', linkedCategory: 'marketing' }] } } } } });
`;

const KLARO = `var klaroConfig = { version: 1, acceptAll: true, services: [
  { name: 'analytics', title: 'Analytics', purposes: ['analytics'] },
  { name: 'marketing', title: 'Marketing', purposes: ['marketing'] }] };
`;

const C15T = `import { createRoot } from 'react-dom/client';
import { ConsentBanner, ConsentDialog, ConsentManagerProvider } from '@c15t/react';
createRoot(document.getElementById('root')).render(
  <ConsentManagerProvider options={{ mode: 'offline', consentCategories: ['necessary', 'measurement', 'marketing'],
    overrides: { country: 'DE' } }}><ConsentBanner /><ConsentDialog /></ConsentManagerProvider>);
`;

/** Serves a page for each snippet, with one text, and the files of the other products in gzip. */
async function servePages(snippets: readonly Snippet[], files: Readonly<Record<string, Uint8Array>>): Promise<Server> {
  const text = '<p>A shop for gardens, with seeds, tools and a page about each of them.</p>'.repeat(30);
  const pages = snippets.map(({ head, body }, i): [string, Uint8Array] => [
    `/${i}`,
    Buffer.from(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Garden</title>` +
        `<meta name="viewport" content="width=device-width">${head}</head><body><h1>Garden</h1>${text}${body}</body></html>`,
    ),
  ]);
  const all = new Map(
    [...pages, ...Object.entries(files)].map(([path, bytes]) => [path, gzipSync(bytes, { level: 9 })]),
  );
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const bytes = all.get(path);
    const type = path.endsWith('.js') ? 'text/javascript' : path.endsWith('.css') ? 'text/css' : 'text/html';
    const kept = path.includes('.') ? 'public, max-age=31536000' : 'no-cache';
    response.writeHead(bytes === undefined ? 404 : 200, {
      'content-type': `${type}; charset=utf-8`,
      'content-encoding': 'gzip',
      'cache-control': kept,
    });
    response.end(bytes ?? gzipSync(''));
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return server;
}

/** Runs in the page, before its own scripts: notes shifts, long tasks and presses. */
const OBSERVE = `
  window.seen = { shift: 0, longest: 0, press: 0 };
  const each = (type, note) =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true, durationThreshold: 16 });
  // What moves after a press was asked for (the definition of Cumulative Layout Shift).
  each('layout-shift', ({ value, hadRecentInput }) => { if (!hadRecentInput) seen.shift += value; });
  each('longtask', ({ duration }) => { seen.longest = Math.max(seen.longest, duration); });
  each('event', ({ duration, interactionId }) => { if (interactionId > 0) seen.press = Math.max(seen.press, duration); });
`;

async function measure(
  browser: ChromiumPage,
  port: number,
  snippets: readonly Snippet[],
  isCached: boolean,
): Promise<ReadonlyMap<Snippet, readonly Load[]>> {
  const loads = new Map(snippets.map((snippet): [Snippet, Load[]] => [snippet, []]));
  for (let round = 0; round < LOADS; round += 1) {
    // The order turns, so that no snippet always comes after the same one.
    for (let i = 0; i < snippets.length; i += 1) {
      const place = (i + round) % snippets.length;
      const snippet = snippets[place];
      if (snippet === undefined) continue;
      const url = `http://localhost:${port}/${place}`;
      if (!isCached) await browser.send('Network.clearBrowserCache');
      else if (round === 0) await load(browser, url, snippet);
      loads.get(snippet)?.push(await load(browser, url, snippet));
    }
  }
  return loads;
}

/** Opens the page as a new visitor, waits for the banner, and accepts by a press of the mouse. */
async function load(browser: ChromiumPage, url: string, { script, box, accept }: Snippet): Promise<Load> {
  await browser.send('Page.navigate', { url: 'about:blank' });
  await browser.send('Network.clearBrowserCookies');
  await browser.send('Storage.clearDataForOrigin', { origin: new URL(url).origin, storageTypes: 'all' });
  await browser.send('Page.navigate', { url });
  const drawn = `new Promise((resolve) => {
    const look = () => {
      const box = ${box};
      const isDrawn = box instanceof Element && box.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      if (isDrawn) requestAnimationFrame(() => resolve(performance.now()));
      else requestAnimationFrame(look);
    };
    look();
  })`;
  await browser.until(async () => (await browser.evaluate('location.href')) === url);
  const banner = z.number().parse(await browser.evaluate(drawn));
  const at = await browser.evaluate(`(async () => {
    const button = ${accept};
    await new Promise((resolve) => setTimeout(resolve, 600));
    const { x, y, width, height } = button.getBoundingClientRect();
    return { x: x + width / 2, y: y + height / 2 };
  })()`);
  const point = z.object({ x: z.number(), y: z.number() }).parse(at);
  for (const type of ['mousePressed', 'mouseReleased'])
    await browser.send('Input.dispatchMouseEvent', { type, ...point, button: 'left', clickCount: 1 });
  return Load.parse(
    await browser.evaluate(`(async () => {
      const entries = [...performance.getEntriesByType('resource')];
      const script = entries.find(({ name }) => name.endsWith(${JSON.stringify(script)}));
      const before = entries.filter(({ responseEnd }) => responseEnd <= ${banner});
      await new Promise((resolve) => setTimeout(resolve, 400));
      return { ...window.seen, banner: ${banner}, script: script?.responseEnd ?? NaN, requests: before.length,
        bytes: before.reduce((sum, { transferSize }) => sum + transferSize, 0) };
    })()`),
  );
}

function print(isCached: boolean, loads: ReadonlyMap<Snippet, readonly Load[]>): void {
  console.log(
    `A new visitor's banner, ${isCached ? 'files from the cache' : 'nothing in the cache'}, ${LOADS} loads each`,
  );
  const of = (list: readonly Load[], pick: (load: Load) => number): number => median(list.map(pick));
  for (const [{ name }, list] of loads) {
    const most = (pick: (load: Load) => number): number => Math.max(...list.map(pick));
    const within =
      most(({ longest }) => longest) <= LONGEST_TASK ? 'none' : `${Math.round(most((one) => one.longest))} ms`;
    const press = most((one) => one.press);
    console.log(
      `  ${name}: painted at ${Math.round(of(list, (one) => one.banner))} ms, ` +
        `${Math.round(of(list, (one) => one.banner - one.script))} ms after its script; ` +
        `${of(list, (one) => one.requests)} requests, ${Math.round(of(list, (one) => one.bytes))} bytes; ` +
        `layout shift ${most(({ shift }) => shift).toFixed(3)}; longest task above ${LONGEST_TASK} ms: ${within}; ` +
        `press to paint at most ${Math.round(press)} ms${press < LONGEST_PRESS ? '' : ' (too long)'}`,
    );
  }
}
