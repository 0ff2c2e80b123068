import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ConsentLedger } from '../../../sdk/node/src/consent-ledger.js';
import type { ExportedConsent } from '../../../sdk/shared/types.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { FaultyFront } from '../faulty-front.js';
import { Shop } from './shop.js';
import { DOMAIN, HOSTS, SiteVisitor } from './site.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
const [WWW, BLOG] = HOSTS;
const SHARED = { attributes: `data-cookie-domain="${DOMAIN}"` };

/** An expression that opens a frame, for what the page in it says. */
const framed = (url: string, sandbox?: string): string => `new Promise((resolve) => {
  addEventListener('message', ({ data }) => resolve(data), { once: true });
  const frame = document.createElement('iframe');
  ${sandbox === undefined ? '' : `frame.sandbox = '${sandbox}';`}
  frame.src = '${url}';
  document.body.append(frame);
})`;

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, 'a choice on a site in Chromium'), () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let front: FaultyFront;
  let shop: Shop;
  let visitor: SiteVisitor;
  let ledger: ConsentLedger;
  beforeAll(async () => {
    shop = await Shop.open();
    app = await startApp('serve', {
      GEO_COUNTRY_HEADER: 'x-country',
      GEO_REGION_HEADER: 'x-region',
      TRUSTED_PROXIES: '127.0.0.1',
    });
    front = await FaultyFront.open(app.url);
    const allowedOrigins = HOSTS.map((host) => `http://${host}:${shop.port}`);
    demo = await app.seed({ allowedOrigins });
    shop.use(front.url, demo.keys.write);
    ledger = new ConsentLedger({ baseUrl: app.url, apiKey: demo.keys.write, user: demo.api_user });
    visitor = await SiteVisitor.start(chromiumPath ?? '', shop);
  });
  afterAll(async () => {
    await visitor?.page.close();
    await front?.close();
    await app?.stop();
    await shop?.close();
  });
  beforeEach(async () => {
    await visitor.forget();
    front.received.length = 0;
  });

  /** Waits for a number of records of the visitor. @returns the records */
  const recordsOf = async (count: number, visitor_id: string): Promise<readonly ExportedConsent[]> => {
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
  const decisionsOf = async (count: number, id: string) => (await recordsOf(count, id)).map(({ decision }) => decision);

  test('C1: a refusal counts after the site has added a cookie domain, and leaves one cookie', async () => {
    await visitor.visit(WWW);
    await visitor.choose('acceptAll()');
    const id = await visitor.id();
    await visitor.visit(WWW, SHARED);
    expect((await visitor.state()).allows).toBe(true);
    await visitor.choose('rejectAll()');
    for (const options of [SHARED, {}, SHARED]) {
      await visitor.visit(WWW, options);
      expect(await visitor.state()).toMatchObject({ status: 'chosen', allows: false });
      expect(await visitor.cookies('_svc_consent')).toHaveLength(1);
    }
    expect(await visitor.id()).toBe(id);
    expect(await decisionsOf(2, id)).toEqual(['accepted', 'withdrawn']);
  });

  test('C1: the newest of cookies in other places and formats counts, and the others are deleted', async () => {
    await visitor.visit(WWW);
    await visitor.choose('acceptAll()');
    const [accepted = ''] = await visitor.cookies('_svc_consent');
    const old = encodeURIComponent(
      JSON.stringify({
        decision: 'accepted',
        categories: { marketing: true },
        document_version_id: 'x',
        language: 'en',
      }),
    );
    await visitor.choose('rejectAll()');
    for (const [value, place] of [
      [accepted, `Path=/shop`],
      [accepted, `Path=/; Domain=${DOMAIN}`],
      [old, `Path=/shop/; Domain=${WWW}`],
      ['nonsense', 'Path=/shop'],
    ])
      await visitor.ask(`document.cookie = '_svc_consent=${value}; Max-Age=600; ${place}'`);
    await visitor.visit(WWW, {}, '/shop/garden');
    await visitor.page.goto(`${visitor.origin(WWW)}/`);
    await visitor.known();
    expect(await visitor.cookies('_svc_consent')).toHaveLength(1);
    expect(await visitor.state()).toMatchObject({ status: 'chosen', allows: false });
  });

  test('C2: hosts that share the choice share the identity: the withdrawal reaches the record', async () => {
    await visitor.visit(WWW, SHARED);
    await visitor.choose('acceptAll()');
    const id = await visitor.id();
    await visitor.visit(BLOG, SHARED);
    expect((await visitor.state()).allows).toBe(true);
    await visitor.choose('rejectAll()');
    expect(await visitor.id()).toBe(id);
    expect(await decisionsOf(2, id)).toEqual(['accepted', 'withdrawn']);
    const newest = async () => (await ledger.status({ visitor_id: id }))[0]?.decision;
    await expect.poll(newest).toBe('withdrawn');
    await visitor.visit(WWW, SHARED);
    expect((await visitor.state()).allows).toBe(false);
  });

  test('C2: what one host could not send, the other one does, in order', async () => {
    await visitor.visit(WWW, SHARED);
    front.inject({ status: 503, code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '600' } });
    await visitor.ask('void consentLedger.consent.acceptAll()');
    await visitor.page.until(async () => front.received.length > 0);
    await visitor.visit(BLOG, SHARED);
    await visitor.choose('rejectAll()');
    const id = await visitor.id();
    expect(await decisionsOf(2, id)).toEqual(['accepted', 'withdrawn']);
    await visitor.visit(WWW, SHARED);
    await visitor.page.until(async () => (await visitor.ask('consentLedger.consent.queued().length')) === 0);
    expect(await decisionsOf(2, id)).toEqual(['accepted', 'withdrawn']);
  });

  test('C3: in California, a signal that comes after the permission ends it', async () => {
    Object.assign(front.added, { 'x-country': 'US', 'x-region': 'CA' });
    await visitor.visit(WWW);
    await visitor.choose('acceptAll()');
    const id = await visitor.id();
    const end = await visitor.before(
      `Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { value: true });`,
    );
    try {
      await visitor.visit(WWW);
      expect(await visitor.state()).toMatchObject({ status: 'signalled', allows: false });
      expect((await recordsOf(2, id)).map(({ consent_type }) => consent_type)).toEqual([
        'cookie',
        'do_not_sell_opt_out',
      ]);
      await visitor.choose('acceptAll()');
      await visitor.visit(WWW);
      expect(await visitor.state()).toMatchObject({ status: 'chosen', allows: true });
      await recordsOf(3, id);
    } finally {
      await end();
      delete front.added['x-country'];
      delete front.added['x-region'];
    }
  });

  test('C4: an approval of 72,000 bytes is recorded, and no withdrawal waits for one that cannot be', async () => {
    await visitor.visit(WWW);
    await visitor.choose('acceptAll()');
    const id = await visitor.id();
    const approve = `consentLedger.consent.document('cookie-policy').then((shown) => consentLedger.consent.approve(shown, {
      decision: 'accepted', custom_document_content: 'ğ'.repeat(36000), custom_document_mime_type: 'text/plain' }))`;
    front.inject({ status: 503, code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '600' } });
    await visitor.ask(`void ${approve}.catch(() => undefined)`);
    await visitor.page.until(async () => front.received.length > 1);
    await visitor.choose('rejectAll()');
    expect(await decisionsOf(2, id)).toEqual(['accepted', 'withdrawn']);
    expect(front.received[1]?.body.length).toBeGreaterThan(36_000);
    expect(await visitor.ask('consentLedger.consent.queued().length')).toBe(1);
  });

  test.each([
    ['blocked', `Object.defineProperty(Document.prototype, 'cookie', { get: () => '', set: () => undefined });`],
    [
      'throwing',
      `Object.defineProperty(Document.prototype, 'cookie', { get() { throw new DOMException('no', 'SecurityError'); }, set() { throw new DOMException('no', 'SecurityError'); } });`,
    ],
  ])(
    'C5, C6: cookies and storage are %s: the page keeps the choice, and says once that it does not last',
    async (_, cookies) => {
      const end = await visitor.before(
        `${cookies} Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });`,
      );
      try {
        await visitor.visit(WWW);
        expect((await visitor.state()).status).toBe('needed');
        const before = visitor.page.events('Runtime.consoleAPICalled').length;
        await visitor.choose('acceptAll()');
        await visitor.ask(`document.dispatchEvent(new Event('visibilitychange'))`);
        expect(await visitor.state()).toMatchObject({ status: 'chosen', allows: true });
        await visitor.choose('rejectAll()');
        expect(await visitor.state()).toMatchObject({ status: 'chosen', allows: false });
        const bodies = front.received.map(({ body }) => JSON.parse(body));
        expect(bodies.map(({ decision }) => decision)).toEqual(['accepted', 'withdrawn']);
        expect(new Set(bodies.map(({ visitor_id }) => visitor_id)).size).toBe(1);
        const said = visitor.page
          .events('Runtime.consoleAPICalled')
          .slice(before)
          .map((one) => JSON.stringify(one));
        expect(said.filter((one) => one.includes('keeps no choice'))).toHaveLength(1);
      } finally {
        await end();
      }
    },
  );

  test('C5: storage that is cleared while the page lives: the page keeps the choice', async () => {
    await visitor.visit(WWW);
    await visitor.choose('acceptAll()');
    await visitor.page.send('Network.clearBrowserCookies');
    await visitor.page.send('Storage.clearDataForOrigin', { origin: visitor.origin(WWW), storageTypes: 'all' });
    await visitor.ask(`document.dispatchEvent(new Event('visibilitychange'))`);
    expect(await visitor.state()).toMatchObject({ status: 'chosen', allows: true });
    await visitor.choose('rejectAll()');
    expect(front.received.map(({ body }) => JSON.parse(body).decision)).toEqual(['accepted', 'withdrawn']);
  });

  test('C6: in a sandboxed frame start() ends, nothing optional runs, and the choice of the page stays', async () => {
    await visitor.visit(WWW);
    await visitor.choose('acceptAll()');
    const state = await visitor.ask(framed(`${visitor.origin(WWW)}/frame`, 'allow-scripts'));
    expect(state).toEqual({ status: 'unavailable', allows: false });
    expect((await visitor.state()).allows).toBe(true);
  });

  test('C5: in a frame of another site, whose cookies the browser keeps apart, the choice lasts as long as the page', async () => {
    shop.show();
    await visitor.page.goto(`${visitor.origin('news.localhost')}/other`);
    const state = await visitor.ask(framed(`${visitor.origin(WWW)}/frame?choose`));
    expect(state).toEqual({ status: 'chosen', allows: true });
    expect(await visitor.page.evaluate('document.cookie')).toBe('');
  });

  test('a page from the back and forward cache knows the refusal that came after it', async () => {
    await visitor.visit(WWW, SHARED);
    await visitor.choose('acceptAll()');
    await visitor.ask('void (window.isKept = true)');
    await visitor.page.goto(`${visitor.origin(BLOG)}/`);
    await visitor.known();
    await visitor.choose('rejectAll()');
    await visitor.ask('void history.back()');
    await visitor.page.until(async () => (await visitor.ask('location.hostname')) === WWW);
    await visitor.known();
    expect(await visitor.ask('window.isKept')).toBe(true);
    expect((await visitor.state()).allows).toBe(false);
  });
});
