import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NONCE_IN_TEXT, securityPolicy } from '../../../dashboard/src/pages/keys/security-policy.js';
import { ConsentLedger } from '../../../sdk/node/src/consent-ledger.js';
import type { ExportedConsent } from '../../../sdk/shared/types.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { violationsOf } from '../../support/axe.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { FaultyFront } from '../faulty-front.js';
import { addArabic } from './arabic-site.js';
import { NONCE, Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/opt-out.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
/** Folder for pictures, to look at. */
const { SHOTS } = process.env;
const SIGNAL = `Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { value: true });`;
/** §7015(b) and §7013(e) of the CCPA regulations. */
const CHOICES = 'Your Privacy Choices';
const DO_NOT_SELL = 'Do Not Sell or Share My Personal Information';
const AGAIN = 'Allow sale and sharing again';
const NOT_OUT = 'You have not opted out of the sale and sharing of your personal information.';
const OUT = 'You have opted out of the sale and sharing of your personal information.';
const OUT_BY_SIGNAL = 'Your browser’s signal has opted you out of the sale and sharing of your personal information.';

const LINK = '<p><a href="/privacy-choices" data-consent-opt-out>Privacy</a></p>';
const TITLE = 'the link to the opt-out (CCPA regulations, §7015)';

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, TITLE), () => {
  let app: RunningApp;
  let front: FaultyFront;
  let shop: Shop;
  let visitor: Visitor;
  let ledger: ConsentLedger;
  let apiKey: string;
  beforeAll(async () => {
    shop = await Shop.open();
    app = await startApp('serve', {
      GEO_COUNTRY_HEADER: 'x-country',
      GEO_REGION_HEADER: 'x-region',
      TRUSTED_PROXIES: '127.0.0.1',
    });
    front = await FaultyFront.open(app.url);
    const demo = await app.seed({ allowedOrigins: [shop.origin] });
    await addArabic(app, demo);
    apiKey = demo.keys.write;
    shop.use(front.url, apiKey);
    ledger = new ConsentLedger({ baseUrl: app.url, apiKey: demo.keys.write, user: demo.api_user });
    visitor = await Visitor.start(chromiumPath ?? '', shop);
  });
  afterAll(async () => {
    await visitor?.page.close();
    await front?.close();
    await app?.stop();
    await shop?.close();
  });
  beforeEach(async () => {
    await visitor.forget();
    Object.assign(front.added, { 'x-country': 'FR', 'x-region': '' });
  });
  afterEach(() => visitor.page.send('Emulation.clearDeviceMetricsOverride'));

  const ask = (expression: string): Promise<unknown> => visitor.page.evaluate(expression);
  const words = (): Promise<unknown> => ask(`document.querySelector('[data-consent-opt-out]').textContent.trim()`);
  /** An expression about the open dialog. */
  const inDialog = (expression: string): Promise<unknown> =>
    ask(
      `((dialog) => ${expression})(document.querySelector('consent-opt-out')?.shadowRoot.querySelector('dialog[open]'))`,
    );
  const texts = (): Promise<unknown> =>
    inDialog(`[...dialog.querySelectorAll('h2,p,button')].map((one) => one.textContent)`);
  const press = (part: string): Promise<unknown> => inDialog(`dialog.querySelector('[part=${part}]').click()`);
  const visit = async (options: Parameters<Visitor['visit']>[0] = {}, label = CHOICES): Promise<void> => {
    await visitor.visit({ body: LINK, ...options });
    await expect.poll(words).toBe(label);
  };
  const open = (): Promise<unknown> => ask(`document.querySelector('[data-consent-opt-out]').click()`);
  const recordsOf = async (count: number): Promise<readonly ExportedConsent[]> => {
    const visitor_id = await visitor.id();
    const records: ExportedConsent[] = [];
    await expect
      .poll(async () => {
        records.length = 0;
        for await (const record of ledger.exportRecords({ visitor_id })) records.push(record);
        return records.length;
      })
      .toBe(count);
    return records;
  };
  const picture = async (name: string): Promise<void> => {
    if (SHOTS === undefined) return;
    mkdirSync(SHOTS, { recursive: true });
    writeFileSync(join(SHOTS, `opt-out-${name}.png`), await visitor.page.screenshot());
  };

  test('a page without it does not load its file', async () => {
    await visitor.visit({ body: '<p data-consent="marketing">Ads</p>' });
    const loaded = (name: string) =>
      ask(`performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/sdk/${name}')).length`);
    await expect.poll(() => loaded('gate.js')).toBe(1);
    expect(await loaded('opt-out.js')).toBe(0);
  });

  test('opts out under any law, before any choice, and takes that back', async () => {
    await visit();
    expect(await ask(`document.querySelector('[data-consent-opt-out] svg').getAttribute('aria-hidden')`)).toBe('true');
    await open();
    expect(await texts()).toEqual([CHOICES, NOT_OUT, DO_NOT_SELL, 'Close']);
    await picture('not-opted-out');
    expect(await violationsOf(visitor.page, 'opt-out', async () => undefined)).toEqual([]);
    await press('do-not-sell');
    expect(await texts()).toEqual([CHOICES, OUT, AGAIN, 'Close']);
    expect(await ask('consentLedger.consent.isOptedOutOfSale')).toBe(true);
    // The question of the banner is still open.
    expect(await visitor.status()).toBe('needed');
    const presentation = {
      layout: 'opt_out',
      layout_version: 1,
      layer: 'opt_out',
      language: 'en',
      sdk: 'browser 0.1.0',
    };
    const [out] = await recordsOf(1);
    expect(out).toMatchObject({
      consent_type: 'do_not_sell_opt_out',
      decision: 'accepted',
      categories: null,
      presentation: { ...presentation, controls: ['do_not_sell'], control: 'do_not_sell' },
    });
    await visit();
    await open();
    expect(await texts()).toEqual([CHOICES, OUT, AGAIN, 'Close']);
    await press('allow-sale');
    expect(await texts()).toEqual([CHOICES, NOT_OUT, DO_NOT_SELL, 'Close']);
    const [, back] = await recordsOf(2);
    expect(back).toMatchObject({
      consent_type: 'do_not_sell_opt_out',
      decision: 'withdrawn',
      presentation: { ...presentation, controls: ['allow_sale'], control: 'allow_sale' },
    });
  });

  test('states that the signal opted out, in California, and the visitor may take that back', async () => {
    Object.assign(front.added, { 'x-country': 'US', 'x-region': 'CA' });
    const { identifier } = await visitor.page.send('Page.addScriptToEvaluateOnNewDocument', { source: SIGNAL });
    try {
      await visit();
      await open();
      expect(await texts()).toEqual([CHOICES, OUT_BY_SIGNAL, AGAIN, 'Close']);
      await press('allow-sale');
      expect(await texts()).toEqual([CHOICES, NOT_OUT, DO_NOT_SELL, 'Close']);
    } finally {
      await visitor.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
    }
  });

  test('works without the banner, and for a button that the page adds later', async () => {
    const module = `import { Consent, gateContent } from '/index.js';
      const consent = new Consent({ apiKey: KEY, baseUrl: SERVICE });
      window.consentLedger = { consent, banner: Promise.resolve() };
      gateContent(consent);
      consent.start();`;
    await visitor.visit({
      module: module.replace('KEY', JSON.stringify(apiKey)).replace('SERVICE', JSON.stringify(front.url)),
      body: '<main></main>',
    });
    expect(await ask(`document.querySelector('consent-banner')`)).toBeNull();
    await ask(`document.querySelector('main').innerHTML = '<button type="button" data-consent-opt-out></button>'`);
    await expect.poll(words).toBe(CHOICES);
    await open();
    await press('do-not-sell');
    expect(await recordsOf(1)).toMatchObject([{ decision: 'accepted', presentation: { layout: 'opt_out' } }]);
  });

  test('is used by the keyboard: Enter opens it, Escape closes it, and the focus returns', async () => {
    await visit();
    await ask(`document.querySelector('[data-consent-opt-out]').focus()`);
    await visitor.page.press('Enter');
    expect(await inDialog(`dialog.getRootNode().activeElement.textContent`)).toBe(CHOICES);
    await visitor.page.press('Tab');
    expect(await inDialog(`dialog.getRootNode().activeElement.textContent`)).toBe(DO_NOT_SELL);
    await visitor.page.press('Enter');
    expect(await inDialog(`dialog.getRootNode().activeElement.textContent`)).toBe(AGAIN);
    await visitor.page.press('Escape');
    await expect.poll(() => ask(`document.querySelector('consent-opt-out')`)).toBeNull();
    expect(await ask(`document.activeElement.hasAttribute('data-consent-opt-out')`)).toBe(true);
  });

  test('as long as nothing can be recorded, the link is that of the page and leads to its own address', async () => {
    const away = { status: 503, headers: { 'retry-after': '0' } };
    front.injectReads(away, away, away, away);
    await visitor.page.goto(shop.show({ body: LINK }));
    await visitor.page.until(async () => (await visitor.status()) === 'unavailable');
    expect(await words()).toBe('Privacy');
    await open();
    await expect.poll(() => ask('location.pathname')).toBe('/privacy-choices');
  });

  test.each(['origin', 'nonce'] as const)('the policy that the dashboard shows (%s) is enough', async (kind) => {
    const policy = securityPolicy(front.url, kind).replace(NONCE_IN_TEXT, NONCE);
    await visit({ policy: `${policy}; require-trusted-types-for 'script'`, isServedByService: true });
    await open();
    expect(await inDialog(`getComputedStyle(dialog.querySelector('.choice')).fontWeight`)).toBe('600');
  });

  test.each([
    ['en', CHOICES, 'ltr'],
    ['tr', 'Gizlilik seçimleriniz', 'ltr'],
    ['ar', 'خيارات الخصوصية الخاصة بك', 'rtl'],
  ])(
    'in %s on a phone of 390 pixels it says “%s” from the side %s, within the window',
    async (language, label, direction) => {
      await visitor.page.send('Emulation.setDeviceMetricsOverride', {
        width: 390,
        height: 780,
        deviceScaleFactor: 1,
        mobile: true,
      });
      await visit({ language }, label);
      expect(await ask(`document.querySelector('[data-consent-opt-out]').lang`)).toBe(language);
      await open();
      await picture(`phone-${language}`);
      expect(await inDialog(`getComputedStyle(dialog).direction`)).toBe(direction);
      expect(await inDialog(`dialog.scrollWidth <= 390 && dialog.getBoundingClientRect().right <= 390`)).toBe(true);
      expect(await ask('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
      expect(await violationsOf(visitor.page, `opt-out on a phone in ${language}`, async () => undefined)).toEqual([]);
    },
  );
});
