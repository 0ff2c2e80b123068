import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createReach } from '../../../src/platform/net/reach.js';
import { isUnder } from '../../../src/tenancy/scans/scan-target.js';
import { Faults, type ScanTarget, type VisitPage } from '../../../src/tenancy/scans/visit.js';
import { visitByBrowser } from '../../../src/tenancy/scans/visit-by-browser.js';
import { hostsOf, parseSetCookie, visitByHttp } from '../../../src/tenancy/scans/visit-by-http.js';
import { chromiumPath } from '../../support/chromium.js';
import { freePort } from '../../support/free-port.js';
import { sampled } from '../../support/sweeps.js';
import { PATIENCE_MS, until } from '../../support/wait.js';
import { fixedLookUp, NEW_VISITOR, startSite, type TestSite } from './scanned-shop.js';

const INSIDE = '127.0.0.2';
/** Long enough for a machine that is busy with other tests. */
const TIMES = { answerMs: PATIENCE_MS, loadMs: PATIENCE_MS, settleMs: 300, visitMs: 2 * PATIENCE_MS };
const SHORT = { ...TIMES, loadMs: 2_000, visitMs: 4_000 };
const never = new AbortController().signal;
let shop: TestSite;
/** Server that must not be reached. It has the port of the shop, on a network that the operator does not list. */
let inside: TestSite;

beforeAll(async () => {
  shop = await startSite('127.0.0.1', (request, response) => {
    const path = request.url ?? '';
    const to = new URLSearchParams(path.split('?')[1]).get('to');
    const page = (html: string) => response.writeHead(200, { 'content-type': 'text/html' }).end(html);
    if (path.startsWith('/redirect') && to !== null) response.writeHead(302, { location: to }).end();
    else if (path.startsWith('/script')) page(`<script>location = ${JSON.stringify(to)}</script>`);
    else if (path === '/blob')
      page(`<script>document.cookie = 'before=1';
        location = URL.createObjectURL(new Blob(['<h1>Blob</h1>'], { type: 'text/html' }));</script>`);
    else if (path.startsWith('/embeds'))
      page(`<h1>Shop</h1><img src="${to}"><iframe src="${to}"></iframe><script>
        fetch(${JSON.stringify(to)}, { mode: 'no-cors' }).catch(() => 0);
        try { new WebSocket(${JSON.stringify(to?.replace('http', 'ws'))}) } catch {}
        navigator.sendBeacon?.(${JSON.stringify(to)});
      </script>`);
    else if (path === '/cookies') {
      response.setHeader('set-cookie', ['by_header=1; Max-Age=3600; HttpOnly', 'session=2; Path=/shop']);
      page(
        `<script>document.cookie = 'by_script=x; max-age=60'; localStorage.setItem('stored', '1');
         sessionStorage.setItem('shortly', '1'); indexedDB.open('base');</script>`,
      );
    } else if (path === '/endless') {
      response.writeHead(200, { 'content-type': 'text/html' });
      const timer = setInterval(() => response.writableNeedDrain || response.write('<p>more</p>'.repeat(5_000)), 1);
      response.on('close', () => clearInterval(timer));
    } else if (path === '/silent') return;
    else page('<h1>Shop</h1>');
  });
  inside = await startSite(INSIDE, (_request, response) => response.end('secret'), shop.port);
});
afterAll(async () => {
  await shop.close();
  await inside.close();
});
beforeEach(() => {
  shop.asked.length = 0;
  inside.asked.length = 0;
});

const names = {
  'shop.example': ['127.0.0.1'],
  'www.shop.example': ['127.0.0.1'],
  'inside.shop.example': [INSIDE],
  'metadata.shop.example': ['169.254.169.254'],
  'six.shop.example': ['::1'],
  'mapped.shop.example': [`::ffff:${INSIDE}`],
  'nat64.shop.example': ['64:ff9b::7f00:2'],
  'other.example': ['127.0.0.1'],
};

const kinds: [string, (reach: ReturnType<typeof createReach>, times?: typeof TIMES) => VisitPage][] = [
  ['plain HTTP', (reach, times = TIMES) => visitByHttp(reach, 'test', times)],
];
if (chromiumPath !== undefined) {
  kinds.push(['a browser', (reach, times = TIMES) => visitByBrowser(chromiumPath ?? '', reach, new Faults(), times)]);
}

const PRIVATE = ['127.0.0.2', '[::1]', '[::ffff:7f00:2]', '0x7f.2', '2130706434', '017700000002', '[64:ff9b::7f00:2]'];

describe.each(kinds)('a visit by %s', (kind, create) => {
  const isBrowser = kind === 'a browser';
  const reachOf = (more: Readonly<Record<string, readonly string[]>> = {}) =>
    createReach(['127.0.0.1/32'], fixedLookUp({ ...names, ...more }));
  const target = (path: string, host = 'shop.example'): ScanTarget => ({
    url: new URL(`http://${host}:${shop.port}${path}`),
    allows: (url) => isUnder(url.hostname, 'shop.example'),
  });
  const visit = (path: string, host?: string) => create(reachOf())(target(path, host), NEW_VISITOR, never);
  const page = (host: string) => `http://${host}:${shop.port}/`;

  it('reports cookies without their values, and what scripts set in a browser', async () => {
    const found = await visit('/cookies');
    expect(found).toMatchObject({
      status: 200,
      isComplete: true,
      finalUrl: `http://shop.example:${shop.port}/cookies`,
    });
    const byName = new Map(found.cookies.map((cookie) => [cookie.name, cookie]));
    expect(byName.get('by_header')).toMatchObject({ domain: 'shop.example', isHttpOnly: true, isSecure: false });
    expect(byName.get('by_header')?.durationSeconds).toBeGreaterThan(3_500);
    expect(byName.get('session')).toMatchObject({ path: '/shop', durationSeconds: null });
    expect(byName.has('by_script')).toBe(isBrowser);
    expect(found.storage).toEqual(
      isBrowser
        ? [
            { kind: 'local_storage', name: 'stored' },
            { kind: 'session_storage', name: 'shortly' },
            { kind: 'indexed_db', name: 'base' },
          ]
        : [],
    );
    expect(JSON.stringify(found)).not.toContain('"x"');
  });

  it('states the address of a page that leads to a blob of its own', async () => {
    expect(await visit('/blob')).toMatchObject({ status: 200, finalUrl: `http://shop.example:${shop.port}/blob` });
  });

  it('begins with the cookie that it is given, and with nothing of an earlier visit', async () => {
    await create(reachOf())(target('/cookies'), NEW_VISITOR, never);
    await create(reachOf())(target('/again'), { ...NEW_VISITOR, cookie: { name: 'choice', value: 'no' } }, never);
    expect(shop.asked.find(({ path }) => path === '/again')?.cookie).toBe('choice=no');
  });

  it('follows a redirect on the domain', async () => {
    const found = await visit(`/redirect?to=${encodeURIComponent(page('www.shop.example'))}`);
    expect(found.finalUrl).toBe(page('www.shop.example'));
  });

  it.each(['redirect', 'script'])('refuses a %s to another host, which it does not request', async (way) => {
    if (way === 'script' && !isBrowser) return;
    const failed = visit(`/${way}?to=${encodeURIComponent(page('other.example'))}`);
    await expect(failed).rejects.toThrow(/The page leads to other\.example/);
    expect(shop.asked.some(({ host }) => host.startsWith('other'))).toBe(false);
  });

  it.each(sampled('private addresses that a page leads to', ['inside', 'metadata', 'six', 'mapped', 'nat64'], kind))(
    'never connects to a name of the domain with a private address (%s), at the start or after a redirect',
    async (name) => {
      const host = `${name}.shop.example`;
      await expect(visit('/', host)).rejects.toThrow('The page could not be loaded');
      await expect(visit(`/redirect?to=${encodeURIComponent(page(host))}`)).rejects.toThrow('could not be loaded');
      expect(inside.asked).toEqual([]);
    },
  );

  it.each(sampled('private addresses that a page leads to', PRIVATE, `${kind} at once`))(
    'never connects to the address %s, whatever the domain is',
    async (host) => {
      const url = new URL(page(host));
      const failed = create(reachOf())({ url, allows: () => true }, NEW_VISITOR, never);
      await expect(failed).rejects.toThrow('The page could not be loaded');
      expect(inside.asked).toEqual([]);
    },
  );

  it('connects to the address that it checked when a name changes its address', async () => {
    for (const answers of [
      ['127.0.0.1', INSIDE],
      [INSIDE, '127.0.0.1'],
    ]) {
      const reach = reachOf({ 'rebind.shop.example': answers });
      const again = page('rebind.shop.example');
      await create(reach)(
        target(`/redirect?to=${encodeURIComponent(again)}`, 'rebind.shop.example'),
        NEW_VISITOR,
        never,
      ).catch(() => undefined);
      expect(inside.asked).toEqual([]);
    }
  });

  it.runIf(isBrowser)('lets a page reach no private address by what it embeds', async () => {
    for (const host of [INSIDE, 'inside.shop.example', 'localhost', '[::1]']) {
      const found = await visit(`/embeds?to=${encodeURIComponent(page(host))}`);
      expect(found.hosts.length, host).toBeGreaterThan(1);
      expect(inside.asked, host).toEqual([]);
    }
    const found = await visit(`/embeds?to=${encodeURIComponent(page('other.example'))}`);
    expect(found.hosts).toEqual(['other.example', 'shop.example']);
    expect(shop.asked.some(({ host }) => host.startsWith('other.example'))).toBe(true);
  });

  it('ends a page that never ends, and one that is silent', async () => {
    const endless = create(reachOf(), SHORT)(target('/endless'), NEW_VISITOR, never);
    const found = await endless.catch((error: unknown) => error);
    if (found instanceof Error)
      expect(found.message).toMatch(/could not be loaded|did not load in time|browser ended/i);
    else expect(found).toMatchObject({ isComplete: false });
    const stopping = new AbortController();
    const silent = create(reachOf())(target('/silent'), NEW_VISITOR, stopping.signal);
    silent.catch(() => undefined);
    await until(() => shop.asked.some(({ path }) => path === '/silent'));
    stopping.abort();
    await expect(silent).rejects.toThrow('did not load in time');
  });

  it.runIf(isBrowser)('ends when it is stopped after the page has loaded', async () => {
    const stopping = new AbortController();
    const visiting = create(reachOf(), { ...TIMES, settleMs: PATIENCE_MS })(target('/'), NEW_VISITOR, stopping.signal);
    visiting.catch(() => undefined);
    await until(() => shop.asked.length > 0);
    setTimeout(() => stopping.abort(), 500);
    await expect(visiting).rejects.toThrow('did not load in time');
  });

  it('says in words that nothing answers, and waits no longer than for an answer', async () => {
    const failed = create(reachOf(), { ...TIMES, answerMs: 1_000 })(target('/silent'), NEW_VISITOR, never);
    await expect(failed).rejects.toThrow('The page did not answer within 1 seconds.');
    const closed = await freePort();
    const { url, allows } = target('/');
    url.port = String(closed);
    await expect(create(reachOf())({ url, allows }, NEW_VISITOR, never)).rejects.toThrow(
      'The page could not be loaded: nothing accepts connections there.',
    );
  });

  it('refuses another port of a public address', async () => {
    const reach = createReach([], fixedLookUp({ 'public.example': ['192.88.99.1'] }));
    const url = new URL('http://public.example:6379/');
    await expect(create(reach)({ url, allows: () => true }, NEW_VISITOR, never)).rejects.toThrow('could not be loaded');
  });
});

it('waits no longer for a connection over HTTP than for an answer', async () => {
  const reach = createReach([], () => undefined);
  const target = { url: new URL('http://shop.example/'), allows: () => true };
  const failed = visitByHttp(reach, 'scan', { ...TIMES, answerMs: 500 })(target, NEW_VISITOR, never);
  await expect(failed).rejects.toThrow('The page did not answer');
});

it('reads the headers of cookies as browsers do', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const read = (line: string) => parseSetCookie(line, 'www.shop.example', now);
  expect(read('a=b; Domain=.Shop.example; Path=/x; Expires=Thu, 01 Jan 2026 01:00:00 GMT; Secure')).toEqual({
    name: 'a',
    domain: 'shop.example',
    path: '/x',
    durationSeconds: 3600,
    isHttpOnly: false,
    isSecure: true,
  });
  expect(read('a=b; Max-Age=5; Expires=Thu, 01 Jan 2027 01:00:00 GMT')?.durationSeconds).toBe(5);
  expect(read('a=b; Domain=other.example')).toBeNull();
  expect(read('nothing')).toBeNull();
});

it('finds the hosts that the elements of a page load from', () => {
  const html = `<script async src="https://a.example/x.js"></script><img src=//b.example/p.gif><a href="https://c.example">
    <link rel="canonical" href="https://d.example/"><link rel="stylesheet" href='https://e.example/s.css'>
    <iframe src="data:text/html,x"></iframe><script>var x = "https://f.example"</script>`;
  expect(hostsOf(html, new URL('https://shop.example/'))).toEqual(['a.example', 'b.example', 'e.example']);
});
