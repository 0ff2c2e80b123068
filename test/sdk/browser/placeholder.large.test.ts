import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { NONCE_IN_TEXT, securityPolicy } from '../../../dashboard/src/pages/keys/security-policy.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { violationsOf } from '../../support/axe.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { addArabic } from './arabic-site.js';
import { NONCE, Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/placeholder.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
/** Folder for pictures, to look at. */
const { BANNER_PICTURES: PICTURES } = process.env;

const Logged = z.looseObject({ entry: z.looseObject({ text: z.string() }) });
const Box = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, 'placeholders of gated content'), () => {
  let app: RunningApp;
  let shop: Shop;
  let visitor: Visitor;
  let frame: string;
  beforeAll(async () => {
    shop = await Shop.open();
    app = await startApp('serve');
    const demo = await app.seed({ allowedOrigins: [shop.origin] });
    await addArabic(app, demo);
    shop.use(app.url, demo.keys.write);
    frame = `http://media.localhost:${shop.port}/film`;
    visitor = await Visitor.start(chromiumPath ?? '', shop, ['--host-resolver-rules=MAP *.localhost 127.0.0.1']);
  });
  afterAll(async () => {
    await visitor?.page.close();
    await app?.stop();
    await shop?.close();
  });
  beforeEach(() => visitor.forget());
  afterEach(() => visitor.page.send('Emulation.clearDeviceMetricsOverride'));

  const film = (attributes = '', title = 'Our garden in June') =>
    `<iframe data-consent="marketing" data-consent-src="${frame}" data-consent-placeholder title="${title}" data-consent-recipient="YouTube (Google Ireland)" width="560" height="315" ${attributes}></iframe>`;
  /** An expression about the placeholders of the page. */
  const inPlaceholder = (expression: string, index = 0): Promise<unknown> =>
    visitor.page.evaluate(
      `((host) => { const root = host?.shadowRoot ?? null; return ${expression}; })(document.querySelectorAll('consent-placeholder')[${index}])`,
    );
  const count = () => visitor.page.evaluate(`document.querySelectorAll('consent-placeholder').length`);
  const sources = () =>
    visitor.page.evaluate(
      `[...document.querySelectorAll('iframe,object,main img')].map((one) => one.getAttribute('src') ?? one.getAttribute('data') ?? '')`,
    );
  const press = (part: string, index = 0) => inPlaceholder(`root.querySelector('[part=${part}]').click()`, index);
  const buttons = (index = 0) =>
    inPlaceholder(`[...root.querySelectorAll('button')].map(({ textContent }) => textContent)`, index);
  const visit = async (body: string, options: Parameters<Visitor['visit']>[0] = {}): Promise<void> => {
    await visitor.visit({ body, ...options });
    await expect.poll(count).toBeGreaterThan(0);
    await expect.poll(() => inPlaceholder(`root.querySelectorAll('button').length`)).toBeGreaterThan(0);
  };
  const picture = async (name: string): Promise<void> => {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    writeFileSync(join(PICTURES, `placeholder-${name}.png`), await visitor.page.screenshot());
  };
  const boxOf = async (selector: string) =>
    Box.parse(await visitor.page.evaluate(`document.querySelector('${selector}').getBoundingClientRect().toJSON()`));

  test('a page without them does not load their file', async () => {
    await visitor.visit({ body: film().replace('data-consent-placeholder', '') });
    await visitor.page.until(
      async () =>
        (await visitor.page.evaluate(
          `performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/sdk/gate.js'))`,
        )) === true,
    );
    expect(
      await visitor.page.evaluate(
        `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/sdk/placeholder.js')).length`,
      ),
    ).toBe(0);
    expect(await count()).toBe(0);
  });

  test.each([
    ['origin', undefined],
    ['nonce', undefined],
    ['nonce', "require-trusted-types-for 'script'"],
  ] as const)(
    'the policy that the dashboard shows (%s, %s) is enough for banner, placeholder and record',
    async (kind, more) => {
      const before = visitor.page.events('Log.entryAdded').length;
      const policy = [
        securityPolicy(app.url, kind).replace(NONCE_IN_TEXT, NONCE),
        'frame-src http://*.localhost:*',
        more,
      ];
      await visit(film(), { policy: policy.filter((one) => one !== undefined).join('; '), isServedByService: true });
      expect(await visitor.sees('section')).toBe(true);
      await picture(`policy-${kind}`);
      expect(await visitor.inBanner(`getComputedStyle(banner.querySelector('section')).position`)).toBe('fixed');
      await visitor.click('accept');
      await visitor.acceptedToken();
      await expect.poll(sources).toEqual([frame]);
      const refused = visitor.page
        .events('Log.entryAdded')
        .slice(before)
        .map((one) => Logged.parse(one).entry.text);
      // Scripts within the page that wait need the nonce, as the dashboard says.
      const inline = kind === 'origin' ? 1 : 0;
      expect(refused.filter((text) => text.includes('Content Security Policy'))).toEqual(
        Array(inline).fill(expect.stringContaining('Executing inline script')),
      );
    },
  );

  test('loading once opens this element alone, changes and records nothing, and ends with a refusal', async () => {
    await visit(film() + film('', 'A second film'));
    await visitor.page.evaluate(
      `((read) => { window.sent = []; window.fetch = (url, init) => { if (init?.method === 'POST') sent.push(init.body); return read(url, init); }; })(window.fetch)`,
    );
    expect(await buttons()).toEqual(['Load once', 'Allow all of Advertising: Demonstration Ads Ltd.…']);
    await press('load-once');
    await expect.poll(sources).toEqual([frame, '']);
    expect(await count()).toBe(1);
    expect(await visitor.page.evaluate(`document.activeElement.title`)).toBe('Our garden in June');
    expect(await visitor.page.evaluate(`consentLedger.consent.allows('marketing')`)).toBe(false);
    expect(await visitor.status()).toBe('needed');
    expect(await visitor.cookie()).toBeNull();
    expect(await visitor.page.evaluate('sent')).toEqual([]);
    expect(await visitor.ran()).toEqual([]);
    // Another language is nothing that the visitor says about the content.
    await visitor.page.evaluate(`consentLedger.consent.setLanguage('tr').then(() => true)`);
    expect(await sources()).toEqual([frame, '']);
    await visitor.click('reject');
    await expect.poll(sources).toEqual(['', '']);
    await expect.poll(count).toBe(2);
    expect(await visitor.page.evaluate('sent.length')).toBe(1);
  });

  test('loading once ends with the signal of the browser, a choice of another tab, and the page', async () => {
    await visit(film());
    await press('load-once');
    await expect.poll(sources).toEqual([frame]);
    await visitor.page.evaluate(
      `Object.defineProperty(navigator, 'globalPrivacyControl', { value: true, configurable: true }), document.dispatchEvent(new Event('visibilitychange'))`,
    );
    await expect.poll(sources).toEqual(['']);
    // A single load is a later wish than the signal.
    await press('load-once');
    await expect.poll(sources).toEqual([frame]);
    await visitor.page.evaluate(
      `delete navigator.globalPrivacyControl, document.dispatchEvent(new Event('visibilitychange'))`,
    );
    await visit(film());
    expect(await sources()).toEqual(['']);
    await visitor.page.evaluate(`consentLedger.consent.choose({ analytics: true }).then(() => true)`);
    await press('load-once');
    await expect.poll(sources).toEqual([frame]);
    const refusal = `JSON.parse(decodeURIComponent(document.cookie.split('_svc_consent=')[1].split(';')[0]))`;
    await visitor.page.evaluate(
      `{ const kept = ${refusal}; document.cookie = '_svc_consent=' + encodeURIComponent(JSON.stringify({ ...kept, at: kept.at + 5, state: '', decision: 'withdrawn', categories: 'necessary.!analytics.!marketing' })) + '; path=/'; dispatchEvent(new Event('storage')); }`,
    );
    await expect.poll(sources).toEqual(['']);
  });

  test('before an answer, permitting opens the settings with this category ticked, and answers nothing by itself', async () => {
    await visit(film());
    await press('allow-all');
    await expect.poll(() => visitor.sees('dialog[open]')).toBe(true);
    const ticked = `[...banner.querySelectorAll('dialog.settings [name]')].map(({ name, checked }) => [name, checked])`;
    await expect
      .poll(() => visitor.inBanner(ticked))
      .toEqual([
        ['analytics', false],
        ['marketing', true],
      ]);
    expect(await visitor.inBanner(`banner.activeElement.name`)).toBe('marketing');
    expect(await visitor.cookie()).toBeNull();
    await visitor.page.press('Escape');
    expect(await visitor.status()).toBe('needed');
    expect(await sources()).toEqual(['']);
    await press('allow-all');
    await expect.poll(() => visitor.inBanner(ticked)).toContainEqual(['marketing', true]);
    await visitor.click('save');
    await visitor.acceptedToken();
    expect(await visitor.cookie()).toMatchObject({ decision: 'partial', categories: 'necessary.!analytics.marketing' });
    expect(await sources()).toEqual([frame]);
  });

  test('after an answer, permitting counts at once, leaves the other answers, and the record says which control was used', async () => {
    await visit(film());
    await visitor.page.evaluate(`consentLedger.consent.choose({ analytics: true }).then(() => true)`);
    await visitor.page.evaluate(
      `((read) => { window.fetch = (url, init) => { window.sent = init?.body ?? window.sent; return read(url, init); }; })(window.fetch)`,
    );
    await expect.poll(buttons).toEqual(['Load once', 'Allow all of Advertising: Demonstration Ads Ltd.']);
    await press('allow-all');
    await expect.poll(sources).toEqual([frame]);
    expect(await visitor.page.evaluate(`document.activeElement.localName`)).toBe('iframe');
    await expect.poll(() => visitor.page.evaluate('window.sent !== undefined')).toBe(true);
    const { categories, decision, presentation } = JSON.parse(z.string().parse(await visitor.page.evaluate('sent')));
    expect({ categories, decision }).toEqual({
      categories: { necessary: true, analytics: true, marketing: true },
      decision: 'accepted',
    });
    expect(presentation).toMatchObject({
      layer: 'placeholder',
      controls: ['load_once', 'allow_all'],
      control: 'allow_all',
      preselected: 'earlier',
      language: 'en',
    });
    await visitor.acceptedToken();
    await visitor.page.evaluate(`consentLedger.consent.rejectAll().then(() => true)`);
    await expect.poll(sources).toEqual(['']);
    await expect.poll(count).toBe(1);
  });

  test('the site can turn the single load off, for one element and for the page', async () => {
    await visit(film('data-consent-once="false"') + film());
    expect(await buttons(0)).toHaveLength(1);
    expect(await buttons(1)).toHaveLength(2);
    await visit(film(), { attributes: 'data-consent-once="false"' });
    expect(await buttons()).toEqual(['Allow all of Advertising: Demonstration Ads Ltd.…']);
  });

  test('a category that the site does not have shows no placeholder', async () => {
    await visit(film() + film().replace('marketing', 'nowhere'));
    expect(await count()).toBe(1);
  });

  test('pictures and objects have one, too, and links none', async () => {
    const gated = (tag: string, more: string) =>
      `<${tag} data-consent="marketing" data-consent-src="/media/${tag}" data-consent-placeholder ${more}>`;
    await visit(
      `${gated('img', 'alt="Map of our shop" width="400" height="300"')}${gated('object', 'title="A model" width="300" height="200"')}</object>${gated('link', 'rel="preload"')}`,
    );
    expect(await count()).toBe(2);
    expect(await inPlaceholder(`root.querySelector('#title').textContent`)).toBe('Map of our shop');
    expect(await inPlaceholder(`root.querySelector('#receives').textContent`)).toContain(new URL(shop.origin).host);
    expect(await boxOf('consent-placeholder')).toMatchObject({ width: 400, height: 300 });
    await press('load-once', 1);
    await expect.poll(sources).toEqual(['', '/media/object']);
  });

  test.each([
    ['a stated size', '', 'width="560" height="315"'],
    ['a ratio of the page', 'iframe{width:100%;aspect-ratio:16/9;height:auto;border:0}', ''],
    ['a fixed height', 'iframe{display:block;width:80%;height:300px;margin:0 auto}', ''],
    [
      'a wrapper with a padding',
      'p.wide{position:relative;padding-bottom:56.25%;height:0}iframe{position:absolute;inset:0;width:100%;height:100%;border:0}',
      '',
    ],
  ])('the layout stays with %s', async (_, css, size) => {
    await visitor.page.send('Emulation.setDeviceMetricsOverride', {
      width: 1000,
      height: 900,
      deviceScaleFactor: 1,
      mobile: false,
    });
    const sheet = `{ const sheet = new CSSStyleSheet(); sheet.replaceSync(${JSON.stringify(css)}); document.adoptedStyleSheets = [sheet]; }`;
    const body = `<p class="wide">${film().replace('width="560" height="315"', size)}</p><p id="after">After</p>`;
    await visit(body, { before: [sheet] });
    await visitor.page.evaluate(`consentLedger.consent.rejectAll().then(() => true)`);
    const [host, after] = [await boxOf('consent-placeholder'), await boxOf('#after')];
    await press('load-once');
    await expect.poll(sources).toEqual([frame]);
    const loaded = await boxOf('iframe');
    expect(Math.abs(host.width - loaded.width)).toBeLessThan(2);
    expect(Math.abs(host.height - loaded.height)).toBeLessThan(2);
    expect(Math.abs(host.x - loaded.x)).toBeLessThan(2);
    expect(Math.abs((await boxOf('#after')).y - after.y)).toBeLessThan(8);
  });

  test('both buttons have one size and weight, and are reached and pressed by the keyboard alone', async () => {
    await visit(film());
    await visitor.page.evaluate(`consentLedger.consent.rejectAll().then(() => true)`);
    const looks = `[...root.querySelectorAll('button')].map((button) => { const { width, height } = button.getBoundingClientRect(); const { fontWeight, fontSize, backgroundColor, color } = getComputedStyle(button); return JSON.stringify([Math.round(width), Math.round(height), fontWeight, fontSize, backgroundColor, color]); })`;
    const [once, allow] = z.array(z.string()).parse(await inPlaceholder(looks));
    expect(once).toBe(allow);
    await visitor.page.evaluate(`document.querySelector('main a').focus()`);
    await visitor.page.press('Tab');
    expect(await inPlaceholder(`root.activeElement.getAttribute('part')`)).toBe('load-once');
    await visitor.page.press('Tab');
    expect(await inPlaceholder(`root.activeElement.getAttribute('part')`)).toBe('allow-all');
    await visitor.page.press('Tab', true);
    await visitor.page.press('Enter');
    await expect.poll(sources).toEqual([frame]);
  });

  test.each([
    ['en', 390],
    ['ar', 390],
    ['en', 1280],
    ['ar', 1280],
    ['en', 320],
  ])('axe finds nothing in it, and nothing is cut off: %s at %i pixels', async (language, width) => {
    await visitor.page.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 900,
      deviceScaleFactor: 1,
      mobile: false,
    });
    const image = 'data-consent-image="/poster.svg"';
    await visit(`${film()}<p></p>${film(image, 'Another film')}`, { language });
    await visitor.page.evaluate(`consentLedger.consent.rejectAll().then(() => true)`);
    expect(
      await violationsOf(visitor.page, `${language}-${width}`, (scheme) => picture(`${language}-${width}-${scheme}`)),
    ).toEqual([]);
    for (const index of [0, 1])
      expect(
        await inPlaceholder(
          `root.querySelector('.panel').scrollWidth <= host.clientWidth && host.scrollWidth <= host.clientWidth + 1`,
          index,
        ),
      ).toBe(true);
    expect(await visitor.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await inPlaceholder(`root.querySelector('.frame').dir`)).toBe(language === 'ar' ? 'rtl' : 'ltr');
    await visitor.page.send('Emulation.setEmulatedMedia', { features: [{ name: 'forced-colors', value: 'active' }] });
    await picture(`${language}-${width}-forced`);
    await visitor.page.send('Emulation.setEmulatedMedia', { features: [] });
  });
});
