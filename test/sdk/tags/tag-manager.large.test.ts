import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConsentLedger } from '../../../sdk/node/src/consent-ledger.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { NONCE, Shop } from '../browser/shop.js';
import { Visitor } from '../browser/visitor.js';
import { containerScript, readTemplate } from './tag-template.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/tag-manager.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

const DENIED = {
  ad_storage: 'denied',
  ad_user_data: 'denied',
  ad_personalization: 'denied',
  analytics_storage: 'denied',
  functionality_storage: 'denied',
  personalization_storage: 'denied',
  security_storage: 'granted',
};

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, 'the template for tag managers'), () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let shop: Shop;
  let visitor: Visitor;
  let container: string;
  beforeAll(async () => {
    shop = await Shop.open();
    app = await startApp('serve');
    demo = await app.seed({ allowedOrigins: [shop.origin] });
    shop.use(app.url, demo.keys.write);
    container = containerScript(
      await readTemplate(),
      {
        service: app.url,
        apiKey: demo.keys.write,
        waitForUpdate: '500',
        regions: [{ region: 'US-TX', granted: 'ad_storage' }],
      },
      NONCE,
    );
    visitor = await Visitor.start(chromiumPath ?? '', shop);
  });
  afterAll(async () => {
    await visitor?.page.close();
    await app?.stop();
    await shop?.close();
  });

  /** Opens a page whose container has the tag, and after it another tag that looks at what is stated. */
  const visit = () =>
    visitor.visit({ before: [container, 'window.seenByTag = structuredClone(stated);'], module: 'void 0' });
  const stated = (name = 'stated') => visitor.page.evaluate(`window.${name}`);
  const updates = async () => ((await stated()) as unknown[][]).filter(([kind]) => kind === 'update');
  const events = () => visitor.page.evaluate('dataLayer');

  test('the defaults stand before any tag, and a choice updates them, is recorded, and is told at the next page', async () => {
    await visit();
    const defaults = [
      ['default', { ...DENIED, wait_for_update: 500 }],
      ['default', { ...DENIED, ad_storage: 'granted', region: ['US-TX'], wait_for_update: 500 }],
    ];
    expect(await stated('seenByTag')).toEqual(defaults);
    expect(await stated('tagResult')).toBe('success');
    expect(await visitor.sees('section')).toBe(true);
    expect(await stated()).toEqual(defaults);
    expect(await events()).toEqual([]);

    await visitor.click('accept');
    const token = await visitor.acceptedToken();
    const granted = {
      ...DENIED,
      ad_storage: 'granted',
      ad_user_data: 'granted',
      ad_personalization: 'granted',
      analytics_storage: 'granted',
    };
    expect(await updates()).toEqual([['update', granted]]);
    expect(await events()).toEqual([{ event: 'consent-ledger-choice' }]);
    expect(await visitor.ran()).toContain('/analytics.js');
    const ledger = new ConsentLedger({ baseUrl: app.url, apiKey: demo.keys.write, user: demo.api_user });
    const records: string[] = [];
    for await (const record of ledger.exportRecords({ visitor_id: await visitor.id() }))
      records.push(record.consent_token);
    expect(records).toEqual([token]);

    await visit();
    expect(await stated('seenByTag')).toEqual(defaults);
    await expect.poll(updates).toEqual([['update', granted]]);
    expect(await visitor.sees('section')).toBe(false);
    await visitor.page.evaluate('consentLedger.consent.rejectAll().then(() => true)');
    expect(await updates()).toEqual([
      ['update', granted],
      ['update', DENIED],
    ]);
    expect(await events()).toEqual([{ event: 'consent-ledger-choice' }, { event: 'consent-ledger-choice' }]);
  });

  test('a signal and an opt-out of sale end a default that grants, without a choice, and so does a script that is blocked', async () => {
    const isDenied = () => expect.poll(updates).toEqual([['update', DENIED]]);
    await visitor.forget();
    const { identifier } = await visitor.page.send('Page.addScriptToEvaluateOnNewDocument', {
      source: `Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })`,
    });
    await visit();
    await isDenied();
    await visitor.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
    await visitor.forget();
    await visit();
    expect(await updates()).toEqual([]);
    await visitor.page.evaluate('consentLedger.consent.optOutOfSale().then(() => true)');
    await isDenied();
    await visitor.forget();
    await visitor.page.send('Network.setBlockedURLs', { urls: ['*/sdk/consent.js'] });
    await visitor.page.goto(shop.origin);
    await isDenied();
    await visitor.page.send('Network.setBlockedURLs', { urls: [] });
  });
});
