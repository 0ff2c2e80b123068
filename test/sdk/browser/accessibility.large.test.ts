import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { addArabic } from './arabic-site.js';
import { Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
const AXE = createRequire(import.meta.url).resolve('axe-core');
const Violations = z.array(z.string());
/** The focused element, in the banner's shadow root or in the page. */
const FOCUSED = `(banner?.activeElement ?? document.activeElement)`;

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, 'the banner for everyone'), () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let shop: Shop;
  let visitor: Visitor;
  let axe: string;
  beforeAll(async () => {
    axe = await readFile(AXE, 'utf8');
    shop = await Shop.open();
    app = await startApp('serve');
    demo = await app.seed({ allowedOrigins: [shop.origin] });
    // Before the first request, so that no process has an older configuration.
    await addArabic(app, demo);
    shop.use(app.url, demo.keys.write);
    visitor = await Visitor.start(chromiumPath ?? '', shop);
  });
  afterAll(async () => {
    await visitor?.page.close();
    await app?.stop();
    await shop?.close();
  });
  beforeEach(() => visitor.forget());

  /** Rules of WCAG 2.2 A and AA and of best practice that the page breaks. */
  const violations = async (): Promise<readonly string[]> => {
    await visitor.page.evaluate(`${axe}; true`);
    const options = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] };
    return Violations.parse(
      await visitor.page.evaluate(
        `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target, failureSummary }) => JSON.stringify(target) + failureSummary).join(' | ')))`,
      ),
    );
  };
  const colours = (scheme: 'dark' | 'light') =>
    visitor.page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  const focused = () => visitor.inBanner(`${FOCUSED}.getAttribute('part') ?? ${FOCUSED}.localName`);

  test.each(['en', 'tr', 'ar'])(
    'axe finds nothing in the banner, the dialog and the page after it: %s',
    async (language) => {
      for (const scheme of ['light', 'dark'] as const) {
        await visitor.forget();
        await colours(scheme);
        await visitor.visit({ language });
        expect(await visitor.sees('section')).toBe(true);
        expect(await violations()).toEqual([]);
        await visitor.click('settings');
        await visitor.inBanner(
          `banner.querySelectorAll('dialog details').forEach((details) => { details.open = true; })`,
        );
        await visitor.page.until(
          async () => (await visitor.inBanner(`banner.querySelector('dialog .text').textContent !== ''`)) === true,
        );
        expect(await violations()).toEqual([]);
        await visitor.click('save');
        await visitor.acceptedToken();
        expect(await violations()).toEqual([]);
      }
    },
  );

  test('the page that axe is shown has faults that it finds', async () => {
    await visitor.visit();
    await visitor.inBanner(`banner.querySelector('section').append(document.createElement('input'))`);
    expect(await violations()).toEqual([expect.stringMatching(/^label: /)]);
  });

  test('keyboard only: the banner is reached first, settings open, a box is ticked, and the choice is saved', async () => {
    await visitor.visit();
    const { page } = visitor;
    const order: unknown[] = [];
    for (const isBack of [false, false, false, true, true, true, true]) {
      await page.press('Tab', isBack);
      order.push(await focused());
    }
    expect(order).toEqual(['accept', 'reject', 'settings', 'reject', 'accept', 'language', 'policy']);
    while ((await focused()) !== 'settings') await page.press('Tab');
    await page.press('Enter');
    await page.until(async () => (await visitor.sees('dialog[open]')) === true);
    // The dialog is modal: Tab stays in it, and Escape returns to the button that opened it.
    const inside: unknown[] = [];
    for (let i = 0; i < 12; i += 1) {
      await page.press('Tab');
      inside.push(
        await visitor.inBanner(
          `${FOCUSED}.closest('dialog') !== null || ${FOCUSED}.localName === 'body' || ${FOCUSED}.localName === 'consent-banner'`,
        ),
      );
    }
    expect(inside).not.toContain(false);
    await page.press('Escape');
    expect(await visitor.sees('dialog[open]')).toBe(false);
    expect(await focused()).toBe('settings');
    await page.press('Enter');
    while ((await focused()) !== 'input') await page.press('Tab');
    await page.press(' ');
    while ((await focused()) !== 'save') await page.press('Tab');
    await page.press('Enter');
    await visitor.acceptedToken();
    expect(await visitor.cookie()).toMatchObject({
      decision: 'partial',
      categories: 'necessary.analytics.!marketing',
    });
    expect(await focused()).toBe('settings');
    expect(await visitor.inBanner(`banner.querySelector('[role=status]').textContent`)).toBe('Your choice is saved.');
    // In another language, Escape still leads back to what opened the settings.
    await page.press('Enter');
    await page.until(async () => (await visitor.sees('dialog[open]')) === true);
    await visitor.inBanner(
      `(() => { const select = banner.querySelector('dialog[open] select'); select.focus(); select.value = 'tr'; select.dispatchEvent(new Event('change', { bubbles: true })); })()`,
    );
    await page.until(async () => (await visitor.inBanner(`banner.querySelector('dialog').lang`)) === 'tr');
    expect(await focused()).toBe('language');
    await page.press('Escape');
    await page.until(async () => (await focused()) === 'settings');
  });

  test('a second confirmation is seen for its whole time, whatever is left of the first', async () => {
    await visitor.visit();
    await visitor.holdConfirmations();
    const isSeen = () => visitor.inBanner(`banner.querySelector('.said').classList.contains('seen')`);
    await visitor.click('accept');
    await visitor.page.until(async () => (await visitor.sees('.open')) === true);
    const first = await visitor.page.evaluate('[...confirmations.keys()].join()');
    await visitor.click('settings');
    await visitor.click('save');
    await visitor.page.evaluate(`confirmations.get(${first})?.()`);
    expect(await isSeen()).toBe(true);
    await visitor.page.evaluate('confirmations.forEach((end) => end())');
    expect(await isSeen()).toBe(false);
  });

  test('a focused element of the page is not hidden by the banner', async () => {
    const fill = Array.from({ length: 60 }, (_, i) => `<p><a href="/${i}">Link ${i}</a></p>`).join('');
    await visitor.visit({ body: fill });
    const hidden: unknown[] = [];
    for (let i = 0; i < 4; i += 1) await visitor.page.press('Tab');
    for (let i = 0; i < 62; i += 1) {
      await visitor.page.press('Tab');
      const isHidden = `(() => {
        const link = document.activeElement.getBoundingClientRect();
        return link.height > 0 && document.activeElement.localName === 'a' && link.bottom > banner.querySelector('section').getBoundingClientRect().top + 1;
      })()`;
      if ((await visitor.inBanner(isHidden)) === true)
        hidden.push(await visitor.page.evaluate('document.activeElement.href'));
    }
    expect(hidden).toEqual([]);
  });

  test('right to left: Arabic texts in their direction, a policy in Arabic, and the language in the record', async () => {
    await visitor.visit({ language: 'ar' });
    expect(
      await visitor.inBanner(`[banner.querySelector('section').dir, banner.querySelector('section').lang]`),
    ).toEqual(['rtl', 'ar']);
    const positions = `[...banner.querySelectorAll('section .choice')].map((button) => button.getBoundingClientRect().left)`;
    const [accept, reject] = z.array(z.number()).parse(await visitor.inBanner(positions));
    expect(accept).toBeGreaterThan(reject ?? Number.NaN);
    await visitor.click('accept');
    await visitor.acceptedToken();
    expect(await visitor.cookie()).toMatchObject({ language: 'ar', decision: 'accepted' });
  });

  test('the visitor changes the language of the banner, and chooses by that text', async () => {
    await visitor.visit();
    await visitor.inBanner(
      `((select) => { select.focus(); select.value = 'tr'; select.dispatchEvent(new Event('change', { bubbles: true })); })(banner.querySelector('section select'))`,
    );
    await visitor.page.until(async () => (await visitor.inBanner(`banner.querySelector('section').lang`)) === 'tr');
    expect(await focused()).toBe('language');
    await visitor.click('accept');
    await visitor.acceptedToken();
    expect(await visitor.cookie()).toMatchObject({ language: 'tr' });
    await visitor.visit();
    expect(await visitor.status()).toBe('chosen');
    // The policy that the visitor chose by is no longer in force: the page asks in its own language.
    const outdated = { ...(await visitor.cookie()), document_version_id: '00000000-0000-4000-8000-000000000000' };
    await visitor.page.evaluate(
      `document.cookie = '_svc_consent=${encodeURIComponent(JSON.stringify(outdated))}; path=/'`,
    );
    await visitor.visit();
    expect(await visitor.inBanner(`banner.querySelector('section').lang`)).toBe('en');
  });

  test('a narrow screen at 400 % zoom: nothing is cut off, and the page can be read', async () => {
    await visitor.page.send('Emulation.setDeviceMetricsOverride', {
      width: 320,
      height: 256,
      deviceScaleFactor: 1,
      mobile: false,
    });
    try {
      await visitor.visit();
      expect(await visitor.page.evaluate('document.documentElement.scrollWidth <= 320')).toBe(true);
      expect(
        await visitor.inBanner(`banner.querySelector('section').getBoundingClientRect().height * 3 <= innerHeight * 2`),
      ).toBe(true);
      await visitor.click('settings');
      expect(
        await visitor.inBanner(
          `banner.querySelector('dialog').scrollWidth <= banner.querySelector('dialog').clientWidth`,
        ),
      ).toBe(true);
    } finally {
      await visitor.page.send('Emulation.clearDeviceMetricsOverride');
    }
  });
});
