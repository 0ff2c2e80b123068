import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Appearance } from '../../../schemas/banner/appearance.js';
import { unfairThemes } from '../../../schemas/banner/fair-appearance.js';
import type { LanguageTexts } from '../../../schemas/banner/language-texts.js';
import { DEFAULT_LANGUAGES, loadTexts } from '../../../schemas/banner/load-texts.js';
import { directionOf } from '../../../schemas/language/direction.js';
import { DEFAULT_APPEARANCE } from '../../../sdk/banner/default-appearance.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { setAppearance, violationsOf } from '../../support/axe.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { addArabic } from './arabic-site.js';
import { Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
/** Folder for pictures of every layout, to look at. */
const { BANNER_PICTURES: PICTURES } = process.env;

/** The look that the site publishes: a green shop with a box at the right. */
const GREEN: Appearance = {
  ...DEFAULT_APPEARANCE,
  layout: 'box',
  side: 'end',
  radius: 16,
  light: {
    background: '#fdfcf8',
    text: '#20301f',
    border: '#7b8a78',
    accept: '#2f6b3a',
    on_accept: '#ffffff',
    reject: '#4a5a48',
    on_reject: '#ffffff',
  },
};

const SIZES = { phone: [390, 780], desktop: [1280, 800] } as const;
/** Services of one category, each with a switch: more members of the service's answer. */
const SWITCHES = `
    body.data.service_switches = true;
    body.data.categories.find(({ key }) => key === 'marketing').services = [
      { key: 'youtube', name: 'YouTube', recipient: 'Google Ireland', policy_url: 'https://policies.example/youtube' },
      { key: 'vimeo', name: 'Vimeo', recipient: 'Vimeo.com, Inc.', policy_url: null },
    ];`;
/** Replaces the look in the service's answer, so that one service shows all of them. @param more replaces more of it */
const lookOf = (appearance: Appearance, more = ''): string => `{
  const read = window.fetch;
  window.fetch = async (...request) => {
    const answer = await read(...request);
    if (!String(request[0]).includes('/tool/v1/config')) return answer;
    const body = await answer.json();
    body.data.appearance = ${JSON.stringify(appearance)};${more}
    return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  };
}`;
/** Replaces the words in the service's answer by the default texts of a language. */
const wordsOf = (language: string, { labels, defaults }: LanguageTexts): string => `{
  const read = window.fetch;
  window.fetch = async (...request) => {
    const answer = await read(...request);
    if (!String(request[0]).includes('/tool/v1/config')) return answer;
    const body = await answer.json();
    const { title, text, withdrawal, categories } = ${JSON.stringify(defaults)};
    Object.assign(body.data, { banner: { title, text }, withdrawal, direction: '${directionOf(language)}' });
    for (const [name, text] of Object.entries(${JSON.stringify(labels)})) body.data.labels[name] = { text, language: '${language}' };
    for (const one of body.data.categories) Object.assign(one, categories[one.key]);
    return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  };
}`;
const Size = z.tuple([z.number(), z.number()]);
const Box = z.object({ left: z.number(), top: z.number(), right: z.number(), bottom: z.number() });

describe.skipIf(!canRun)(
  titleNeeding('Chromium, or the built SDK,', canRun, 'layouts and themes of the banner'),
  () => {
    let app: RunningApp;
    let shop: Shop;
    let visitor: Visitor;
    beforeAll(async () => {
      shop = await Shop.open();
      app = await startApp('serve');
      const demo = await app.seed({ allowedOrigins: [shop.origin] });
      await addArabic(app, demo, GREEN);
      shop.use(app.url, demo.keys.write);
      visitor = await Visitor.start(chromiumPath ?? '', shop);
    });
    afterAll(async () => {
      await visitor?.page.close();
      await app?.stop();
      await shop?.close();
    });
    beforeEach(() => visitor.forget());

    const boxOf = async (selector: string) =>
      Box.parse(await visitor.inBanner(`banner.querySelector('${selector}').getBoundingClientRect().toJSON()`));

    test('the published look is drawn, and the record states it', async () => {
      expect(unfairThemes(GREEN)).toEqual([]);
      await visitor.visit();
      const colour = `getComputedStyle(banner.querySelector('[part=reject]')).backgroundColor`;
      expect(await visitor.inBanner(colour)).toBe('rgb(74, 90, 72)');
      const gaps = async (selector: string) => {
        const { right, bottom } = await boxOf(selector);
        const [width, height] = Size.parse(
          await visitor.page.evaluate('[document.documentElement.clientWidth, innerHeight]'),
        );
        return [width - right, height - bottom];
      };
      // It moves into its place.
      await visitor.page.until(async () => (await gaps('.first'))[1] === 16);
      expect((await gaps('.first'))[0]).toBe(16);
      expect(await visitor.inBanner(`getComputedStyle(banner.querySelector('.first')).borderRadius`)).toBe('16px');
      await visitor.page.evaluate(
        `((read) => { window.fetch = (url, init) => { window.sent = init?.body ?? window.sent; return read(url, init); }; })(window.fetch)`,
      );
      await visitor.holdConfirmations();
      await visitor.click('reject');
      await visitor.acceptedToken();
      expect(await gaps('.open')).toEqual([16, 12]);
      expect(await visitor.inBanner(`getComputedStyle(banner.querySelector('.said')).clipPath`)).toBe('none');
      const body = z.string().parse(await visitor.page.evaluate('window.sent'));
      expect(JSON.parse(body).presentation).toMatchObject({
        layout: 'box',
        layout_version: 3,
        theme: 'site',
        layer: 'first',
        control: 'reject',
      });
    });

    test.each(['bar', 'box', 'dialog'] as const)(
      '%s: readable and whole on a phone and a desktop, light and dark, in both directions',
      async (layout) => {
        const added = await visitor.page.send('Page.addScriptToEvaluateOnNewDocument', {
          source: lookOf({ ...DEFAULT_APPEARANCE, layout }, SWITCHES),
        });
        try {
          for (const [size, [width, height]] of Object.entries(SIZES)) {
            const metrics = { width, height, deviceScaleFactor: 1, mobile: size === 'phone' };
            await visitor.page.send('Emulation.setDeviceMetricsOverride', metrics);
            for (const language of ['en', 'ar']) {
              await visitor.forget();
              await visitor.visit({ language });
              const name = `${layout}-${size}-${language}`;
              expect(await violationsOf(visitor.page, name, (scheme) => picture(`${name}-${scheme}`))).toEqual([]);
              const [accept, reject] = [await boxOf('[part=accept]'), await boxOf('[part=reject]')];
              for (const { left, top, right, bottom } of [accept, reject, await boxOf('[part=settings]')]) {
                expect([left >= 0, top >= 0, right <= width, bottom <= height], name).toEqual([true, true, true, true]);
              }
              expect(reject.bottom - reject.top, name).toBeCloseTo(accept.bottom - accept.top, 0);
              // Words of other lengths may make a small difference.
              expect((reject.right - reject.left) / (accept.right - accept.left), name).toBeGreaterThan(0.8);
              await visitor.click('settings');
              // One service is on, so that its category is undecided.
              await visitor.inBanner(`banner.querySelector('dialog.settings [value=youtube]').click()`);
              await visitor.inBanner(`banner.querySelector('dialog.settings [value=youtube]').scrollIntoView()`);
              expect(await visitor.inBanner(`banner.querySelector('[name=marketing]').indeterminate`)).toBe(true);
              expect(
                await violationsOf(visitor.page, `${name}-settings`, (scheme) => picture(`${name}-settings-${scheme}`)),
              ).toEqual([]);
              expect(
                await visitor.inBanner(
                  `[...banner.querySelectorAll('dialog.settings, .services')].map((one) => one.scrollWidth > one.clientWidth)`,
                ),
                name,
              ).toEqual([false, false]);
              await visitor.page.send('Emulation.setEmulatedMedia', {
                features: [{ name: 'forced-colors', value: 'active' }],
              });
              await picture(`${name}-settings-forced`);
              await setAppearance(visitor.page, 'light');
              const save = await boxOf('[part=save]');
              expect([save.top >= 0, save.bottom <= height], name).toEqual([true, true]);
            }
          }
        } finally {
          await visitor.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier: added.identifier });
          await visitor.page.send('Emulation.clearDeviceMetricsOverride');
        }
      },
    );

    test('the default texts of each language fit into the buttons of a small phone', async () => {
      const [width, height] = [320, 640];
      const metrics = { width, height, deviceScaleFactor: 1, mobile: true };
      await visitor.page.send('Emulation.setDeviceMetricsOverride', metrics);
      for (const language of DEFAULT_LANGUAGES) {
        const texts = (await loadTexts(language)) ?? expect.fail(`no texts in ${language}`);
        const added = await visitor.page.send('Page.addScriptToEvaluateOnNewDocument', {
          source: wordsOf(language, texts),
        });
        await visitor.forget();
        await visitor.visit();
        expect(await visitor.inBanner(`banner.querySelector('[part=accept]').textContent`)).toBe(texts.labels.accept);
        const boxes = [await boxOf('[part=accept]'), await boxOf('[part=reject]'), await boxOf('[part=settings]')];
        for (const { left, top, right, bottom } of boxes)
          expect([left >= 0, top >= 0, right <= width, bottom <= height], language).toEqual([true, true, true, true]);
        const [accept = expect.fail(), reject = expect.fail()] = boxes;
        expect(reject.bottom - reject.top, language).toBeCloseTo(accept.bottom - accept.top, 0);
        expect((reject.right - reject.left) / (accept.right - accept.left), language).toBeGreaterThan(0.8);
        expect(await cutOff(), language).toEqual([]);
        await visitor.click('settings');
        const save = await boxOf('[part=save]');
        expect([save.left >= 0, save.right <= width, save.bottom <= height], language).toEqual([true, true, true]);
        expect(await cutOff(), language).toEqual([]);
        await visitor.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier: added.identifier });
      }
      await visitor.page.send('Emulation.clearDeviceMetricsOverride');
    });

    test('Escape leaves a dialog without a choice: nothing is permitted, and the settings can be opened', async () => {
      const source = lookOf({ ...DEFAULT_APPEARANCE, layout: 'dialog' });
      const added = await visitor.page.send('Page.addScriptToEvaluateOnNewDocument', { source });
      await visitor.visit({ attributes: 'data-settings-button="true"' });
      expect(await visitor.inBanner(`banner.activeElement.className`)).toBe('words');
      await visitor.page.press('Escape');
      expect(await visitor.sees('dialog[open]')).toBe(false);
      expect(await visitor.cookie()).toBeNull();
      await visitor.page.until(async () => (await visitor.sees('.open')) === true);
      await visitor.inBanner(`banner.querySelector('.open').click()`);
      expect(await visitor.sees('dialog[open]')).toBe(true);
      await visitor.tick(true, false);
      await chooseLanguage('ar');
      expect(await visitor.inBanner(`banner.querySelector('dialog.settings input').checked`)).toBe(true);
      expect(await visitor.inBanner(`banner.querySelectorAll('dialog[open]').length`)).toBe(1);
      await visitor.page.press('Escape');
      expect(await visitor.sees('dialog[open]')).toBe(false);
      expect(await visitor.sees('.open')).toBe(true);
      await visitor.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier: added.identifier });
    });

    test('a dialog stays open, without the button that opens the settings, when the page replaces it', async () => {
      const source = lookOf({ ...DEFAULT_APPEARANCE, layout: 'dialog' });
      const added = await visitor.page.send('Page.addScriptToEvaluateOnNewDocument', { source });
      await visitor.visit({ attributes: 'data-settings-button="true"' });
      await visitor.page.evaluate(`document.querySelector('consent-banner').remove()`);
      await visitor.page.until(async () => (await visitor.sees('dialog[open]')) === true);
      // The event of the closed dialog comes in a task of its own.
      await visitor.page.evaluate('new Promise((resolve) => setTimeout(() => resolve(true), 100))');
      expect(await visitor.inBanner(`banner.querySelector('dialog').matches(':modal')`)).toBe(true);
      expect(await visitor.sees('.open')).toBe(false);
      await visitor.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier: added.identifier });
    });

    test('a banner whose page takes it off while the texts arrive opens nothing, and reports no error', async () => {
      await visitor.visit();
      await visitor.click('reject');
      await visitor.acceptedToken();
      const opened = `consentLedger.banner.then((banner) => {
        const opening = banner.openSettings();
        banner.remove();
        return opening.then(() => 'quiet', String);
      })`;
      expect(await visitor.page.evaluate(opened)).toBe('quiet');
    });

    test('the page has room for the banner where its list of style sheets is only replaced as a whole', async () => {
      const added = await visitor.page.send('Page.addScriptToEvaluateOnNewDocument', {
        source: `{
          const { get, set } = Object.getOwnPropertyDescriptor(Document.prototype, 'adoptedStyleSheets');
          const frozen = () => Object.freeze([...get.call(document)]);
          Object.defineProperty(document, 'adoptedStyleSheets', { get: frozen, set: (sheets) => set.call(document, sheets) });
        }`,
      });
      await visitor.visit();
      const room = `parseFloat(getComputedStyle(document.documentElement).paddingBottom)`;
      expect(await visitor.page.evaluate(room)).toBeGreaterThan(0);
      await visitor.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier: added.identifier });
    });

    async function chooseLanguage(language: string): Promise<void> {
      const select = `banner.querySelector('dialog[open] select')`;
      await visitor.inBanner(
        `(${select}.value = '${language}', ${select}.dispatchEvent(new Event('change', { bubbles: true })))`,
      );
      await visitor.page.until(
        async () => (await visitor.inBanner(`banner.querySelector('dialog.settings').lang`)) === language,
      );
    }

    /** Buttons and headings whose words are wider than they are. */
    async function cutOff(): Promise<unknown> {
      return visitor.inBanner(
        `[...banner.querySelectorAll('button, h2, h3, label')].filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline').map((one) => one.textContent)`,
      );
    }

    async function picture(name: string): Promise<void> {
      if (PICTURES === undefined) return;
      mkdirSync(PICTURES, { recursive: true });
      writeFileSync(join(PICTURES, `${name}.png`), await visitor.page.screenshot());
    }
  },
);
