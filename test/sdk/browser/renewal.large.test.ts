import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { Shop } from './shop.js';
import { DOMAIN, HOSTS, SiteVisitor } from './site.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
const [WWW] = HOSTS;
const RENEWING = { attributes: `data-cookie-domain="${DOMAIN}" data-renew-url="/renew"` };
const DAY_SECONDS = 86_400;
const Cookies = z.object({ cookies: z.array(z.object({ name: z.string(), value: z.string(), expires: z.number() })) });

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, 'cookies that the site renews'), () => {
  let app: RunningApp;
  let shop: Shop;
  let visitor: SiteVisitor;
  beforeAll(async () => {
    shop = await Shop.open();
    app = await startApp('serve');
    const demo = await app.seed({ allowedOrigins: [`http://${WWW}:${shop.port}`] });
    shop.use(app.url, demo.keys.write);
    shop.cookieDomain = DOMAIN;
    visitor = await SiteVisitor.start(chromiumPath ?? '', shop);
  });
  afterAll(async () => {
    await visitor?.page.close();
    await app?.stop();
    await shop?.close();
  });
  beforeEach(async () => {
    await visitor.forget();
    shop.requested.length = 0;
  });

  const renewals = () => shop.requested.filter((path) => path === '/renew').length;
  const renewed = (count: number) => visitor.page.until(async () => renewals() === count);

  /** Days that the browser keeps the cookies of the SDK, by name, but that which tells the page that they came. */
  const days = async (): Promise<Record<string, number>> => {
    const { cookies } = Cookies.parse(await visitor.page.send('Network.getCookies'));
    const now = Date.now() / 1000;
    const lasting = cookies.filter(({ name }) => name !== '_svc_renewed');
    return Object.fromEntries(lasting.map(({ name, expires }) => [name, Math.round((expires - now) / DAY_SECONDS)]));
  };

  /** A visitor of Safari, whose choice and its last renewal are two days old. */
  const comeBack = async (): Promise<void> => {
    // Until the page has the response, which sets what is set here.
    await visitor.page.until(async () => (await visitor.ask(`'_svc_consent:renewed' in localStorage`)) === true);
    for (const name of ['_svc_consent', '_svc_visitor']) {
      const [value] = await visitor.cookies(name);
      await visitor.ask(
        `document.cookie = '${name}=${value}; Domain=${DOMAIN}; Path=/; SameSite=Lax; Max-Age=${5 * DAY_SECONDS}'`,
      );
    }
    await visitor.ask(`localStorage['_svc_consent:renewed'] = Date.now() - ${2 * DAY_SECONDS * 1000}`);
  };

  test('last as long as the choice, by one request a day', async () => {
    await visitor.visit(WWW, RENEWING);
    expect(renewals()).toBe(0);
    await visitor.choose('acceptAll()');
    await renewed(1);
    await comeBack();
    expect(await days()).toEqual({ _svc_consent: 5, _svc_visitor: 5 });
    const before = await visitor.cookies('_svc_consent');
    await visitor.visit(WWW, RENEWING);
    await renewed(2);
    await expect.poll(days).toEqual({ _svc_consent: 400, _svc_visitor: 400 });
    expect(await visitor.cookies('_svc_consent')).toEqual(before);
    expect((await visitor.state()).allows).toBe(true);
    await visitor.visit(WWW, RENEWING);
    await visitor.visit(WWW);
    expect(renewals()).toBe(2);
  });

  test('do not bring a permission back that the visitor withdrew while the answer was on its way', async () => {
    await visitor.visit(WWW, RENEWING);
    await visitor.choose('acceptAll()');
    await renewed(1);
    await comeBack();
    let answer: () => void = () => undefined;
    shop.beforeRenewal = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await visitor.visit(WWW, RENEWING);
    await renewed(2);
    shop.beforeRenewal = Promise.resolve();
    await visitor.choose('rejectAll()');
    await renewed(3);
    await expect.poll(days).toEqual({ _svc_consent: 400, _svc_visitor: 400 });
    answer();
    await visitor.ask('new Promise((resolve) => setTimeout(() => resolve(true), 300))');
    await visitor.visit(WWW);
    expect(await visitor.state()).toMatchObject({ status: 'chosen', allows: false });
    expect(await visitor.cookies('_svc_consent')).toHaveLength(1);
  });
});
