import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
const Box = z.object({ left: z.number(), top: z.number(), right: z.number(), bottom: z.number() });

describe.skipIf(!canRun)(
  titleNeeding('Chromium, or the built SDK,', canRun, 'the banner beside styles of its page'),
  () => {
    let app: RunningApp;
    let shop: Shop;
    let visitor: Visitor;
    beforeAll(async () => {
      shop = await Shop.open();
      app = await startApp('serve');
      const demo = await app.seed({ allowedOrigins: [shop.origin] });
      shop.use(app.url, demo.keys.write);
      visitor = await Visitor.start(chromiumPath ?? '', shop);
    });
    afterAll(async () => {
      await visitor?.page.close();
      await app?.stop();
      await shop?.close();
    });
    beforeEach(() => visitor.forget());
    afterEach(() => visitor.page.send('Emulation.clearDeviceMetricsOverride'));

    /** Adds styles that a strict policy lets a script add. */
    const style = (css: string): Promise<unknown> =>
      visitor.page.evaluate(`{
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(${JSON.stringify(css)});
        document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
      }`);
    const pixels = (selector: string): Promise<unknown> =>
      visitor.inBanner(`getComputedStyle(banner.querySelector('${selector}')).fontSize`);
    const boxOf = async (selector: string) =>
      Box.parse(await visitor.inBanner(`banner.querySelector('${selector}').getBoundingClientRect().toJSON()`));
    /** The presentation that a click sends. */
    const presentationOf = async (part: string): Promise<unknown> => {
      await visitor.page.evaluate(
        `((read) => { window.fetch = (url, init) => { window.sent = init?.body ?? window.sent; return read(url, init); }; })(window.fetch)`,
      );
      await visitor.click(part);
      await visitor.acceptedToken();
      return JSON.parse(z.string().parse(await visitor.page.evaluate('window.sent'))).presentation;
    };

    // 10 px and 2 px for a root of these pages, before sizes were those of the browser's own text.
    test.each(['html{font-size:62.5%}', 'html{font-size:0.3vw}', '*{font-size:7px}', 'html{font-size:40px}'])(
      'has the size of the browser’s own text with %s',
      async (css) => {
        await visitor.visit();
        await style(css);
        expect([await pixels('.words p'), await pixels('[part=policy]')]).toEqual(['16px', '14px']);
        await visitor.click('settings');
        expect(await pixels('dialog[open] p')).toBe('16px');
        await visitor.click('close');
        expect(await presentationOf('reject')).toMatchObject({ layout_version: 3, text_size: 'usual' });
        expect(await pixels('.open')).toBe('14px');
      },
    );

    test.each([
      [32, 'enlarged'],
      [12, 'below_12'],
    ])('follows a browser whose text has %i px, and the record states %s', async (standard, size) => {
      await visitor.page.send('Page.setFontSizes', { fontSizes: { standard } });
      try {
        await visitor.visit();
        expect(await pixels('.words p')).toBe(`${standard}px`);
        expect(await presentationOf('accept')).toMatchObject({ text_size: size });
      } finally {
        await visitor.page.send('Page.setFontSizes', { fontSizes: { standard: 16 } });
      }
    });

    test('a part that the page makes small is stated', async () => {
      await visitor.visit();
      await style('consent-banner::part(reject){font-size:9px}');
      expect(await presentationOf('reject')).toMatchObject({ text_size: 'below_12' });
    });

    test.each([
      'html{transform:translateZ(0)}',
      'html{filter:grayscale(1)}',
      'body>:not(main){display:none;transform:translateY(9px);opacity:0}',
      'main,body{position:relative;z-index:2147483647}',
    ])('is on the screen, above the page, with %s', async (css) => {
      await visitor.visit({ body: '<p>Line</p>'.repeat(300) });
      await style(css);
      const height = z.number().parse(await visitor.page.evaluate('innerHeight'));
      const { top, bottom } = await boxOf('.first');
      expect(bottom).toBe(height);
      expect(top).toBeGreaterThan(0);
      const { left, top: y } = await boxOf('[part=reject]');
      expect(await visitor.page.evaluate(`document.elementFromPoint(${left + 9}, ${y + 9})?.localName`)).toBe(
        'consent-banner',
      );
      await visitor.click('reject');
      await visitor.acceptedToken();
      expect((await boxOf('.open')).bottom).toBe(height - 12);
    });

    test('has the colours of the page’s own switch, and the record states them', async () => {
      const background = () => visitor.inBanner(`getComputedStyle(banner.querySelector('.first')).backgroundColor`);
      await visitor.visit();
      expect(await background()).toBe('rgb(255, 255, 255)');
      await visitor.page.evaluate(`document.documentElement.dataset.consentScheme = 'dark'`);
      await expect.poll(background).toBe('rgb(28, 33, 39)');
      expect(await presentationOf('reject')).toMatchObject({ colour_scheme: 'dark' });
      await visitor.page.send('Emulation.setEmulatedMedia', {
        features: [{ name: 'prefers-color-scheme', value: 'dark' }],
      });
      try {
        await visitor.forget();
        await visitor.visit();
        expect(await background()).toBe('rgb(28, 33, 39)');
        await visitor.page.evaluate(`document.documentElement.dataset.consentScheme = 'light'`);
        await expect.poll(background).toBe('rgb(255, 255, 255)');
      } finally {
        await visitor.page.send('Emulation.setEmulatedMedia', { features: [] });
      }
    });

    test('a page that takes it off gets it back above the page', async () => {
      await visitor.visit();
      await visitor.page.evaluate(`document.querySelector('consent-banner').remove()`);
      await visitor.page.until(
        async () => (await visitor.page.evaluate(`document.querySelector(':popover-open') !== null`)) === true,
      );
    });

    test('neither a notch nor a home indicator covers a control', async () => {
      const insets = { top: 47, bottom: 34, left: 44, right: 44 };
      await visitor.page.send('Emulation.setSafeAreaInsetsOverride', { insets });
      const [width, height] = [844, 700];
      const metrics = { width, height, deviceScaleFactor: 1, mobile: false };
      await visitor.page.send('Emulation.setDeviceMetricsOverride', metrics);
      try {
        await visitor.visit();
        expect((await boxOf('.first')).bottom).toBe(height);
        const isFree = ({ left, top, right, bottom }: z.infer<typeof Box>): boolean =>
          left >= insets.left && top >= insets.top && right <= width - insets.right && bottom <= height - insets.bottom;
        for (const part of ['accept', 'reject', 'settings'])
          expect([part, isFree(await boxOf(`[part=${part}]`))]).toEqual([part, true]);
        await visitor.click('settings');
        expect(isFree(await boxOf('dialog[open]'))).toBe(true);
        await visitor.click('reject');
        await visitor.acceptedToken();
        expect(isFree(await boxOf('.open'))).toBe(true);
      } finally {
        await visitor.page.send('Emulation.setSafeAreaInsetsOverride', { insets: {} });
      }
    });
  },
);
