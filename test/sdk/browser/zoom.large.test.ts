import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { DEFAULT_APPEARANCE } from '../../../sdk/banner/default-appearance.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { addArabic } from './arabic-site.js';
import { Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
/** Folder for pictures, to look at. */
const { BANNER_PICTURES: PICTURES } = process.env;

/** Windows in pixels of CSS: a phone, a desktop, and a window of 1280 by 1024 at 200 % and 400 %. */
const WINDOWS = { phone: [390, 844], desktop: [1280, 800], 'at 200 %': [640, 512], 'at 400 %': [320, 256] } as const;
const LONG = 'We use cookies to remember what is in your basket, to count visits, and to show what fits. '.repeat(9);
const Box = z.object({ left: z.number(), top: z.number(), right: z.number(), bottom: z.number() });

/** Replaces members of the service's answer. */
const answered = (change: string): string => `{
  const read = window.fetch;
  window.fetch = async (...request) => {
    const answer = await read(...request);
    if (!String(request[0]).includes('/tool/v1/config')) return answer;
    const { data, ...rest } = await answer.json();
    ${change};
    return new Response(JSON.stringify({ data, ...rest }), { headers: { 'content-type': 'application/json' } });
  };
}`;

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, 'the banner in every window'), () => {
  let app: RunningApp;
  let shop: Shop;
  let visitor: Visitor;
  beforeAll(async () => {
    shop = await Shop.open();
    app = await startApp('serve');
    const demo = await app.seed({ allowedOrigins: [shop.origin] });
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
  afterEach(() => visitor.page.send('Emulation.clearDeviceMetricsOverride'));

  const boxOf = async (selector: string) =>
    Box.parse(await visitor.inBanner(`banner.querySelector('${selector}').getBoundingClientRect().toJSON()`));
  const focused = () =>
    visitor.inBanner(`banner.activeElement?.getAttribute('part') ?? banner.activeElement?.className ?? null`);
  const picture = async (name: string): Promise<void> => {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    const { data } = await visitor.page.send('Page.captureScreenshot');
    writeFileSync(join(PICTURES, `${name.replaceAll(/[ %]+/g, '-')}.png`), String(data), 'base64');
  };
  const visit = async (layout: string, text: string, language = 'en'): Promise<void> => {
    const before = [
      answered(
        `data.appearance = ${JSON.stringify({ ...DEFAULT_APPEARANCE, layout })}; data.banner.text = ${JSON.stringify(text)}`,
      ),
    ];
    await visitor.visit({ body: '<p>Line</p>'.repeat(100), before, language });
  };

  test.each(
    Object.entries(WINDOWS).flatMap(([name, [width, height]]) =>
      (['bar', 'box'] as const).flatMap((layout) =>
        ['en', 'ar'].map((language) => [layout, name, language, width, height] as const),
      ),
    ),
  )(
    'a %s leaves a third of the window to the page, and shows both answers whole: %s, %s',
    async (layout, name, language, width, height) => {
      await visitor.page.send('Emulation.setDeviceMetricsOverride', {
        width,
        height,
        deviceScaleFactor: 1,
        mobile: false,
      });
      await visit(layout, LONG, language);
      await picture(`zoom-${layout}-${name}-${language}`);
      const { top, left, right } = await boxOf('.first');
      expect(top).toBeGreaterThanOrEqual(height / 3);
      expect([left >= 0, right <= width]).toEqual([true, true]);
      for (const part of ['accept', 'reject']) {
        const box = await boxOf(`[part=${part}]`);
        expect([part, box.top >= top, box.bottom <= height, box.left >= 0, box.right <= width]).toEqual([
          part,
          true,
          true,
          true,
          true,
        ]);
        const isFree = `[[${box.left + 4}, ${box.top + 4}], [${box.right - 4}, ${box.bottom - 4}]].every(([x, y]) => banner.elementFromPoint(x, y)?.getAttribute('part') === '${part}')`;
        expect(await visitor.inBanner(isFree)).toBe(true);
      }
    },
  );

  test.each(['bar', 'box', 'dialog'])(
    'words of a %s that do not fit scroll in a region that the keyboard reaches',
    async (layout) => {
      await visitor.page.send('Emulation.setDeviceMetricsOverride', {
        width: 320,
        height: 256,
        deviceScaleFactor: 1,
        mobile: false,
      });
      await visit(layout, LONG);
      const scrolled = () => visitor.inBanner(`banner.querySelector('.words').scrollTop`);
      if (layout !== 'dialog') await visitor.page.press('Tab');
      expect(await focused()).toBe('words');
      await visitor.page.press('End');
      await expect.poll(scrolled).toBeGreaterThan(0);
      const passed: unknown[] = [];
      for (let i = 0; i < 5; i += 1) {
        await visitor.page.press('Tab');
        passed.push(await focused());
      }
      expect(passed).toEqual(['policy', 'language', 'accept', 'reject', 'settings']);
    },
  );

  test.each(['en', 'ar'])(
    'the settings with switches of services are whole at 400 %, by the keyboard: %s',
    async (language) => {
      const metrics = { width: 320, height: 256, deviceScaleFactor: 1, mobile: false };
      await visitor.page.send('Emulation.setDeviceMetricsOverride', metrics);
      const services = ['YouTube', 'Vimeo'].map((name) => ({
        ...{ key: name.toLowerCase(), name, recipient: 'A company with a long name, Ltd.' },
        policy_url: 'https://policies.example/',
      }));
      const switched = answered(
        `data.service_switches = true; data.categories.find(({ key }) => key === 'marketing').services = ${JSON.stringify(services)}`,
      );
      await visitor.visit({ before: [switched], language });
      await visitor.click('settings');
      const isOn = (name: string) => `banner.activeElement?.${name}`;
      for (let i = 0; i < 30 && (await visitor.inBanner(isOn('value'))) !== 'youtube'; i += 1)
        await visitor.page.press('Tab');
      await visitor.page.press(' ');
      expect(
        await visitor.inBanner(
          `[${isOn('value')}, ${isOn('checked')}, banner.querySelector('[name=marketing]').indeterminate]`,
        ),
      ).toEqual(['youtube', true, true]);
      await picture(`zoom-services-${language}`);
      const { left, right } = await boxOf('dialog.settings');
      expect([left >= 0, right <= 320]).toEqual([true, true]);
      const wide = `[...banner.querySelectorAll('dialog.settings, dialog.settings *')].filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline').map((one) => one.outerHTML.slice(0, 90))`;
      expect(await visitor.inBanner(wide)).toEqual([]);
      // In a window as low as this one, the buttons of the settings scroll with them.
      const [box, dialog] = [await boxOf('[value=youtube]'), await boxOf('dialog.settings')];
      expect([box.top >= dialog.top, box.bottom <= dialog.bottom]).toEqual([true, true]);
    },
  );

  test('words that fit are no stop of the keyboard, also after the window grew', async () => {
    await visitor.page.send('Emulation.setDeviceMetricsOverride', {
      width: 320,
      height: 256,
      deviceScaleFactor: 1,
      mobile: false,
    });
    await visit('bar', LONG);
    const stop = () => visitor.inBanner(`banner.querySelector('.words').tabIndex`);
    expect(await stop()).toBe(0);
    await visitor.page.send('Emulation.setDeviceMetricsOverride', {
      width: 1280,
      height: 800,
      deviceScaleFactor: 1,
      mobile: false,
    });
    await expect.poll(stop).toBe(-1);
  });

  test('it is announced, and reached by the first press of Tab, in a body that replaces another one', async () => {
    await visit('bar', 'May we use cookies?');
    await visitor.page.evaluate(
      `{ const body = document.createElement('body'); body.append(...document.querySelectorAll('main')); document.body.replaceWith(body); }`,
    );
    await expect
      .poll(() => visitor.page.evaluate(`document.querySelector('consent-banner')?.parentNode === document.body`))
      .toBe(true);
    expect(await visitor.page.evaluate(`document.documentElement.lastElementChild.localName`)).toBe('body');
    expect(await visitor.inBanner(`banner.querySelector('[role=status]').textContent`)).toBe('Your choice');
    await visitor.page.press('Tab');
    expect(await focused()).toBe('accept');
  });

  test.each([
    ['removes it', `document.querySelector('consent-banner').remove()`],
    [
      'replaces its body',
      `{ const body = document.createElement('body'); body.append(...document.querySelectorAll('main')); document.body.replaceWith(body); }`,
    ],
    ['moves it in its body', `document.body.prepend(document.querySelector('consent-banner'))`],
    ['moves it out of its body', `document.querySelector('main').append(document.querySelector('consent-banner'))`],
  ])('keeps the focus, and is in the top layer, if the page %s', async (_, move) => {
    await visit('bar', 'May we use cookies?');
    for (let i = 0; i < 2; i += 1) await visitor.page.press('Tab');
    expect(await focused()).toBe('reject');
    await visitor.page.evaluate(move);
    await expect.poll(focused).toBe('reject');
    expect(await visitor.page.evaluate(`document.querySelector('body > consent-banner:popover-open') !== null`)).toBe(
      true,
    );
  });

  test('takes no focus from what the page focused itself', async () => {
    await visit('bar', 'May we use cookies?');
    await visitor.page.press('Tab');
    await visitor.page.evaluate(
      `{ document.querySelector('consent-banner').remove(); document.querySelector('main a').focus(); }`,
    );
    await expect.poll(() => visitor.page.evaluate(`document.querySelector('consent-banner') !== null`)).toBe(true);
    expect(await visitor.page.evaluate('document.activeElement.localName')).toBe('a');
  });

  test('the settings keep the focus, and stay open, if the page replaces its body', async () => {
    await visit('bar', 'May we use cookies?');
    await visitor.click('settings');
    await visitor.inBanner(`banner.querySelector('[name=marketing]').focus()`);
    await visitor.page.evaluate(
      `{ const body = document.createElement('body'); body.append(...document.querySelectorAll('main')); document.body.replaceWith(body); }`,
    );
    await expect.poll(() => visitor.inBanner(`banner?.activeElement?.name ?? null`)).toBe('marketing');
    expect(await visitor.inBanner(`banner.querySelector('dialog.settings').matches(':modal')`)).toBe(true);
  });

  test.each(['en', 'ar'])(
    'the settings say recipients and periods in words, and have one primary button: %s',
    async (language) => {
      await visitor.page.send('Emulation.setDeviceMetricsOverride', {
        width: 390,
        height: 844,
        deviceScaleFactor: 1,
        mobile: false,
      });
      await visit('bar', 'May we use cookies?', language);
      await visitor.click('settings');
      await visitor.inBanner(
        `banner.querySelectorAll('dialog details').forEach((details) => { details.open = true; })`,
      );
      await picture(`settings-${language}`);
      const looks = `['save', 'accept', 'reject'].map((part) => { const { backgroundColor, fontWeight, fontSize } = getComputedStyle(banner.querySelector('dialog [part=' + part + ']')); return [backgroundColor, fontWeight, fontSize].join(); })`;
      const [save, accept, reject] = z.array(z.string()).parse(await visitor.inBanner(looks));
      expect(accept).toBe(reject);
      expect(save).not.toBe(accept);
      const text = z.string().parse(await visitor.inBanner(`banner.querySelector('dialog').textContent`));
      expect(text).not.toContain('—');
      if (language === 'en') {
        expect(text).toContain('Recipients: Demonstration Analytics Ltd.');
        expect(text).toContain('Storage period: 365 days');
        expect(text).toContain('Storage period: until the browser is closed');
      }
    },
  );
});
