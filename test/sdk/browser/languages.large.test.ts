import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, 'the language of the banner'), () => {
  let app: RunningApp;
  let shop: Shop;
  let visitor: Visitor;
  beforeAll(async () => {
    shop = await Shop.open();
    app = await startApp('api');
    const demo = await app.seed({ allowedOrigins: [shop.origin] });
    shop.use(app.url, demo.keys.write);
    visitor = await Visitor.start(chromiumPath ?? '', shop, ['--accept-lang=tr-CY']);
  });
  afterAll(async () => {
    await visitor?.page.close();
    await app?.stop();
    await shop?.close();
  });
  beforeEach(() => visitor.forget());

  const shown = (element: string) => visitor.inBanner(`banner.querySelector('${element}').lang`);

  // The demonstration has texts in en, its default, and in tr. The browser prefers tr-CY.
  test.each([
    ['tr_TR', 'tr'],
    ['TR', 'tr'],
    ['en-GB', 'en'],
    ['en_US', 'en'],
    ['x-default', 'tr'],
    ['english', 'tr'],
    ['', 'tr'],
    ['fr', 'tr'],
  ])('a page in %j is asked in %s, and the choice is recorded', async (language, expected) => {
    await visitor.visit({ language });
    expect(await shown('section')).toBe(expected);
    await visitor.click('accept');
    await visitor.acceptedToken();
    expect(await visitor.cookie()).toMatchObject({ language: expected });
  });

  test.each([
    ['tr', 'en-GB', 'en'],
    ['tr', 'en_US.UTF-8', 'en'],
    ['en', 'tr_TR', 'tr'],
    ['en', 'x-default', 'tr'],
  ])('settings of a choice made in %s open on a page in %s in %s', async (chosen, language, expected) => {
    await visitor.visit({ language: chosen });
    await visitor.click('accept');
    await visitor.acceptedToken();
    await visitor.visit({ language });
    await visitor.page.evaluate('consentLedger.banner.then((banner) => banner.openSettings())');
    expect(await shown('dialog[open]')).toBe(expected);
  });
});
