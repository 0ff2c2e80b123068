import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { ConsentLedger } from '../../../sdk/node/src/consent-ledger.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import { publishSiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { until } from '../../support/wait.js';
import { Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
/** The demonstration site, whose advertisements set cookies of its own. */
const CONFIG = {
  ...DEMO_CONFIG,
  cookies: (DEMO_CONFIG.cookies ?? []).map((cookie) => ({ ...cookie, party: 'first' as const })),
};
const Heard = z.object({ deleted: z.array(z.string()), left: z.array(z.string()) });
const HEARS = `window.withdrawn = []; document.addEventListener('consent-ledger-withdrawn', ({ detail }) => withdrawn.push(detail));`;
const FILM = '<iframe data-consent="marketing" data-consent-src="/other" title="Film"></iframe>';
/** Of scripts that ran: declared cookies on two paths, one that nobody declared, that of the shop, and a key. */
const KEEP = `
  for (const text of ['_visits=1;path=/', '_ads_one=1;path=/shop', '_adverts=1;path=/', 'shop_session=1;path=/']) document.cookie = text;
  localStorage.setItem('_ads_two', '1');`;

describe.skipIf(!canRun)(
  titleNeeding('Chromium, or the built SDK,', canRun, 'declared cookies after a withdrawal'),
  () => {
    let app: RunningApp;
    let shop: Shop;
    let visitor: Visitor;
    beforeAll(async () => {
      shop = await Shop.open();
      app = await startApp('serve');
      const demo = await app.seed({ allowedOrigins: [shop.origin] });
      const { sha256 } = await publishSiteConfig(app.service.installation.adminPool, demo.site.id, CONFIG, {
        forAnyDomain: true,
      });
      const ledger = new ConsentLedger({ baseUrl: app.url, apiKey: demo.keys.write });
      await until(async () => (await ledger.configuration()).site_config_hash === sha256);
      shop.use(app.url, demo.keys.write);
      visitor = await Visitor.start(chromiumPath ?? '', shop);
    });
    afterAll(async () => {
      await visitor?.page.close();
      await app?.stop();
      await shop?.close();
    });
    beforeEach(() => visitor.forget());

    const NAMES = `document.cookie.split('; ').map((one) => one.split('=')[0]).filter((name) => !name.startsWith('_svc_')).sort()`;
    const goTo = async (path: string): Promise<void> => {
      await visitor.page.goto(shop.origin + path);
      await visitor.page.until(async () => !['loading', undefined].includes(String(await visitor.status())));
    };

    test('go at once in every open tab, with the film that plays there; others stay', async () => {
      const { page } = visitor;
      shop.show({ before: [HEARS], body: FILM });
      await goTo('/shop/garden');
      await page.evaluate('consentLedger.consent.acceptAll().then(() => true)');
      await page.evaluate(KEEP);
      const { targetId } = await page.send('Target.createTarget', { url: `${shop.origin}/` });
      const session = await page.attachTo(`${shop.origin}/`);
      const inOther = (expression: string): Promise<unknown> => page.evaluate(expression, { session });
      const film = `document.querySelector('iframe')?.getAttribute('src') ?? null`;
      await expect.poll(() => inOther(film)).toBe('/other');
      expect(await page.evaluate(NAMES)).toEqual(['_ads_one', '_adverts', '_visits', 'shop_session']);

      await page.evaluate('consentLedger.consent.rejectAll().then(() => true)');
      expect(await page.evaluate(NAMES)).toEqual(['_adverts', 'shop_session']);
      expect(await page.evaluate(`localStorage.getItem('_ads_two')`)).toBeNull();
      await expect.poll(() => inOther(film)).toBeNull();
      expect(await inOther(`consentLedger.consent.allows('marketing')`)).toBe(false);
      const heard = [await page.evaluate('withdrawn'), await inOther('withdrawn')].map(
        (of) => z.tuple([Heard]).parse(of)[0],
      );
      // Either tab may come first to what both of them see, or both at once.
      const deleted = new Set(heard.flatMap((of) => of.deleted));
      expect([...deleted].sort()).toEqual(['_ads_one', '_ads_two', '_visits']);
      for (const { left } of heard) expect(left).toContain('_ads_*');
      await page.send('Target.closeTarget', { targetId });
    });

    test('go at the next visit if a script that ran on set them again, and not before a choice', async () => {
      shop.show();
      await goTo('/shop/garden');
      await visitor.page.evaluate(KEEP);
      await goTo('/shop/garden');
      expect(await visitor.page.evaluate(NAMES)).toEqual(['_ads_one', '_adverts', '_visits', 'shop_session']);
      await visitor.page.evaluate('consentLedger.consent.acceptAll().then(() => true)');
      await visitor.page.evaluate('consentLedger.consent.rejectAll().then(() => true)');
      await visitor.page.evaluate(KEEP);
      await goTo('/shop/garden');
      await expect.poll(() => visitor.page.evaluate(NAMES)).toEqual(['_adverts', 'shop_session']);
    });
  },
);
