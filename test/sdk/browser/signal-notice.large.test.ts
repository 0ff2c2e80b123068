import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ConsentLedger } from '../../../sdk/node/src/consent-ledger.js';
import type { ExportedConsent } from '../../../sdk/shared/types.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { violationsOf } from '../../support/axe.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { FaultyFront } from '../faulty-front.js';
import { Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
const TITLE = 'the notice of an opt-out signal in Chromium (CCPA regulations, §7025(c))';
const SIGNAL = `Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { value: true });`;
/** §7025(c)(6): the example of the regulation. */
const HONORED = 'Opt-Out Request Honored';
const CONFLICT = `${HONORED}. Your browser’s signal replaces your earlier choice. You can choose again.`;

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, TITLE), () => {
  let app: RunningApp;
  let front: FaultyFront;
  let shop: Shop;
  let visitor: Visitor;
  let ledger: ConsentLedger;
  let stopSignal: () => Promise<unknown>;
  beforeAll(async () => {
    shop = await Shop.open();
    app = await startApp('serve', {
      GEO_COUNTRY_HEADER: 'x-country',
      GEO_REGION_HEADER: 'x-region',
      TRUSTED_PROXIES: '127.0.0.1',
    });
    front = await FaultyFront.open(app.url);
    const demo = await app.seed({ allowedOrigins: [shop.origin] });
    shop.use(front.url, demo.keys.write);
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
    Object.assign(front.added, { 'x-country': 'US', 'x-region': 'CA' });
    await signal();
  });
  afterEach(() => stopSignal());

  const signal = async (): Promise<void> => {
    const { identifier } = await visitor.page.send('Page.addScriptToEvaluateOnNewDocument', { source: SIGNAL });
    stopSignal = () => visitor.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
  };
  const notices = (): Promise<unknown> =>
    visitor.inBanner(`[...banner.querySelectorAll('.corner [part=notice]')].map((one) => one.textContent)`);
  const toggle = (property: string): Promise<unknown> =>
    visitor.inBanner(`banner.querySelector('dialog[open] [part=notice] input')?.${property} ?? null`);
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
  const stated = (text: string) => ({ notice: { text, language: 'en', version: 1 } });

  test('is shown once the signal counts, beside the button and in the settings, and stands in both records', async () => {
    await visitor.visit();
    expect(await notices()).toEqual([HONORED]);
    expect(await recordsOf(1)).toMatchObject([
      { consent_type: 'do_not_sell_opt_out', presentation: { ...stated(HONORED), sdk: 'browser 0.1.0' } },
    ]);
    await visitor.click('settings');
    expect([await toggle('checked'), await toggle('getAttribute("role")')]).toEqual([true, 'switch']);
    expect(await violationsOf(visitor.page, 'settings with the notice', async () => undefined)).toEqual([]);
    await visitor.click('reject');
    await visitor.acceptedToken();
    const [, refusal] = await recordsOf(2);
    expect(refusal).toMatchObject({
      decision: 'rejected',
      presentation: { ...stated(HONORED), layer: 'settings', layout_version: 3, text_size: 'usual' },
    });
    // The refusal agrees with the signal.
    expect(await notices()).toEqual([HONORED]);
    expect(await violationsOf(visitor.page, 'the notice at the edge', async () => undefined)).toEqual([]);
  });

  test('is not shown before the signal counts, as while the service is away', async () => {
    const away = { status: 503, headers: { 'retry-after': '0' } };
    front.injectReads(away, away, away, away);
    await visitor.page.goto(shop.show());
    await visitor.page.until(async () => (await visitor.status()) === 'unavailable');
    await visitor.page.evaluate('consentLedger.banner.then(() => true)');
    expect(await visitor.inBanner('banner.textContent')).not.toContain(HONORED);
    await visitor.page.evaluate('consentLedger.consent.resume()');
    await expect.poll(notices).toEqual([HONORED]);
  });

  test('ends when the person permits something', async () => {
    await visitor.visit();
    await visitor.click('settings');
    await visitor.click('accept');
    await visitor.acceptedToken();
    expect(await notices()).toEqual([]);
    await visitor.visit();
    expect(await notices()).toEqual([]);
    expect(await visitor.page.evaluate(`consentLedger.consent.allows('marketing')`)).toBe(true);
  });

  test('says that the signal replaced an earlier choice', async () => {
    await stopSignal();
    await visitor.visit();
    await visitor.click('accept');
    await visitor.acceptedToken();
    await signal();
    await visitor.visit();
    expect(await notices()).toEqual([CONFLICT]);
    expect((await recordsOf(2))[1]).toMatchObject({ presentation: stated(CONFLICT) });
    expect(await visitor.page.evaluate(`consentLedger.consent.allows('marketing')`)).toBe(false);
  });

  test('ends with its switch, which takes the opt-out back, until the signal comes anew', async () => {
    await visitor.visit();
    await visitor.click('settings');
    await visitor.inBanner(`banner.querySelector('dialog[open] [part=notice] input').click()`);
    await visitor.click('save');
    await visitor.acceptedToken();
    expect(await notices()).toEqual([]);
    const records = await recordsOf(3);
    // A choice and an opt-out do not wait for each other.
    expect(records.map(({ consent_type, decision }) => `${consent_type} ${decision}`).toSorted()).toEqual([
      'cookie rejected',
      'do_not_sell_opt_out accepted',
      'do_not_sell_opt_out withdrawn',
    ]);
    const takenBack = records.find(({ decision }) => decision === 'withdrawn');
    expect(takenBack).toMatchObject({ presentation: { ...stated(HONORED), control: 'save' } });
    const isOptedOut = () => visitor.page.evaluate('consentLedger.consent.isOptedOutOfSale');
    expect(await isOptedOut()).toBe(false);
    await visitor.visit();
    expect([await notices(), await isOptedOut()]).toEqual([[], false]);
    await stopSignal();
    await visitor.visit();
    await signal();
    await visitor.visit();
    expect([await notices(), await isOptedOut()]).toEqual([[HONORED], true]);
  });

  test('is not shown where the law does not make the signal a request', async () => {
    front.added['x-country'] = 'DE';
    await visitor.visit();
    expect(await visitor.status()).toBe('signalled');
    expect(await notices()).toEqual([]);
  });

  test('is in the language of the visitor', async () => {
    await visitor.visit({ language: 'tr' });
    expect(await notices()).toEqual(['Vazgeçme talebiniz yerine getirildi']);
    expect((await recordsOf(1))[0]).toMatchObject({ presentation: { notice: { language: 'tr' } } });
  });
});
