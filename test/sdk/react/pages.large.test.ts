import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { ConsentLedger } from '../../../sdk/node/src/index.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { freePort } from '../../support/free-port.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { isExhaustive } from '../../support/sweeps.js';
import { RecipeWalk } from '../recipes/recipe-walk.js';
import { FRAMEWORK_RECIPES } from '../recipes/recipes.js';
import {
  bundled,
  installFrameworks,
  installSiteBuilders,
  nextBuilt,
  ofFrameworks,
  type PageSite,
  type ServedPage,
  viteBuilt,
} from './built-pages.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/react/dist/index.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

/** Builds the page of each example. Those of frameworks that the repository does not install take a minute. */
const PAGES: Readonly<Record<string, (site: PageSite) => Promise<ServedPage>>> = {
  'React by Vite, in development and strict mode': (site) => viteBuilt('react-vite', site, { isDevelopment: true }),
};
const LARGE_PAGES: typeof PAGES = {
  'React 18, in development and strict mode': (site) =>
    bundled('react-vite', site, {
      entry: "import './main.jsx';",
      modules: {
        react: ofFrameworks('react-18/index.js'),
        'react/jsx-dev-runtime': ofFrameworks('react-18/jsx-dev-runtime.js'),
        'react/jsx-runtime': ofFrameworks('react-18/jsx-runtime.js'),
        'react-dom': ofFrameworks('react-dom-18/index.js'),
        'react-dom/client': ofFrameworks('react-dom-18/client.js'),
      },
    }),
  'React by Next.js, drawn by its server': (site) => nextBuilt('react-next', site),
  Vue: (site) => viteBuilt('vue', site, { isOfFrameworks: true }),
  Svelte: (site) => viteBuilt('svelte', site, { isOfFrameworks: true }),
};

const Requests = z.array(z.looseObject({ request: z.looseObject({ url: z.string(), method: z.string() }) }));
const Said = z.array(z.looseObject({ type: z.string() }));

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, 'the examples of frameworks'), () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp('serve');
    if (isExhaustive()) await installFrameworks();
  });
  afterAll(() => app?.stop());

  test.each(Object.entries({ ...PAGES, ...(isExhaustive() && LARGE_PAGES) }))(
    '%s: accepting opens the gate, a reload keeps it open, and a withdrawal closes it',
    async (_, build) => {
      const port = await freePort();
      const origin = `http://127.0.0.1:${port}`;
      const demo = await app.seed({ allowedOrigins: [origin] });
      const served = await build({ service: app.url, apiKey: demo.keys.write, port });
      const page = await ChromiumPage.open(chromiumPath ?? '');
      try {
        await page.goto(`${origin}/`);
        const ask = (expression: string): Promise<unknown> => page.evaluate(expression);
        const isThere = (selector: string) => ask(`document.querySelector('${selector}') !== null`);
        const banner = (selector: string) =>
          ask(`document.querySelector('consent-banner')?.shadowRoot.querySelector('${selector}') != null`);
        await expect.poll(() => banner('section')).toBe(true);
        expect(await isThere('#open')).toBe(false);
        expect(await isThere('#closed')).toBe(true);
        // One film, loaded once, permits nothing.
        const placeholder = (selector: string) =>
          `document.querySelector('consent-placeholder')?.shadowRoot?.querySelector('${selector}')`;
        const waits = () => ask(`${placeholder('[part=load-once]')} != null`);
        await expect.poll(waits).toBe(true);
        expect(await isThere('iframe[src]')).toBe(false);
        await ask(`${placeholder('[part=load-once]')}.click()`);
        await expect.poll(() => isThere('iframe[src]')).toBe(true);
        expect(await waits()).toBe(false);
        expect(await isThere('#open')).toBe(false);
        await ask(`document.querySelector('consent-banner').shadowRoot.querySelector('[part=accept]').click()`);
        await expect.poll(() => isThere('#open')).toBe(true);
        expect(await banner('section')).toBe(false);
        const cookie = () => ask(`decodeURIComponent(document.cookie).includes('consent_token')`);
        await expect.poll(cookie).toBe(true);
        await page.goto(`${origin}/`);
        await expect.poll(() => isThere('#open')).toBe(true);
        expect(await ask(`document.querySelector('output').textContent`)).toBe('accepted');
        expect(await banner('section')).toBe(false);
        // The button of the page opens the settings, and there is no other one.
        expect(await banner('.open')).toBe(false);
        await ask(`document.querySelector('[data-consent-settings]').click()`);
        await expect.poll(() => banner('dialog[open]')).toBe(true);
        await ask(`document.querySelector('consent-banner').shadowRoot.querySelector('[part=close]').click()`);
        await ask(`document.querySelector('#withdraw').click()`);
        await expect.poll(() => isThere('#closed')).toBe(true);
        expect(await isThere('#open')).toBe(false);
        await expect.poll(waits).toBe(true);
        expect(await isThere('iframe[src]')).toBe(false);
        expect(await ask(`document.querySelector('output').textContent`)).toBe('withdrawn');
        await expect.poll(cookie).toBe(true);
        // One banner, one request for the texts on two loads, and one for each choice, also in strict mode.
        expect(await ask(`document.querySelectorAll('consent-banner').length`)).toBe(1);
        const sent = Requests.parse(page.events('Network.requestWillBeSent'))
          .filter(({ request }) => request.url.startsWith(app.url) && request.method !== 'OPTIONS')
          .map(({ request }) => `${request.method} ${new URL(request.url).pathname}`)
          // The files of the SDK itself.
          .filter((line) => !line.startsWith('GET /sdk/'));
        expect(sent).toEqual(['GET /tool/v1/config', 'POST /tool/v1/consents', 'POST /tool/v1/consents']);
        const ledger = new ConsentLedger({ baseUrl: app.url, apiKey: demo.keys.write, user: demo.api_user });
        const decisions = async (): Promise<readonly string[]> => {
          const found: string[] = [];
          for await (const { decision } of ledger.exportRecords()) found.push(decision);
          return found.toSorted();
        };
        await expect.poll(decisions).toEqual(['accepted', 'withdrawn']);
        // Nothing is said on the console, for example about hydration.
        const said = Said.parse(page.events('Runtime.consoleAPICalled')).filter(({ type }) => type !== 'info');
        expect(said).toEqual([]);
        expect(page.events('Runtime.exceptionThrown')).toEqual([]);
      } finally {
        await page.close();
        await served.close();
      }
    },
  );
});

describe.skipIf(!canRun || !isExhaustive())(
  'the recipes of docs/ten-minutes.md for frameworks that are installed first',
  () => {
    let recipes: RecipeWalk;
    beforeAll(async () => {
      await installFrameworks();
      await installSiteBuilders();
      recipes = await RecipeWalk.start();
    });
    afterAll(() => recipes?.stop());

    test.each(FRAMEWORK_RECIPES)(
      '$title: nothing foreign before the choice, the tag after accepting, and nothing after a withdrawal',
      (recipe) => recipes.walk(recipe),
    );
  },
);
