import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webCryptography } from '../../../sdk/browser/src/web-cryptography.js';
import { fetchAnswer } from '../../../sdk/browser/src/web-network.js';
import { type Keeping, ModelBrowser } from '../../../sdk/conformance/src/browser.js';
import { CookieJar } from '../../../sdk/core/cookie-jar.js';
import { cookiePlaces } from '../../../sdk/core/cookie-places.js';
import { isText } from '../../../sdk/core/guards.js';
import { PageStore } from '../../../sdk/core/page-store.js';
import { Service } from '../../../sdk/core/service.js';

const ADDRESS = { protocol: 'https:', hostname: 'www.shop.example', pathname: '/a/b' };
const KINDS: readonly Keeping[] = ['kept', 'blocked', 'throws', 'full'];

function browserOf(keeping: Keeping): ModelBrowser {
  const browser = new ModelBrowser(() => 0);
  browser.cookies = keeping;
  browser.storage = keeping;
  return browser;
}

describe.each(KINDS)('a jar whose cookies are %s', (keeping) => {
  const jarOf = (domain?: string) => new CookieJar(browserOf(keeping).page(ADDRESS), ADDRESS, domain);
  const isKept = keeping === 'kept';

  test('reads what it says that it keeps, and nothing else', () => {
    for (const domain of [undefined, 'shop.example', '.shop.example', 'elsewhere.example']) {
      const jar = jarOf(domain);
      expect(jar.read('a')).toEqual([]);
      expect(jar.keep('a', 'one')).toBe(isKept);
      expect(jar.keep('a', 'two')).toBe(isKept);
      expect(jar.read('a')).toEqual(isKept ? ['two'] : []);
      expect(jar.read('b')).toEqual([]);
    }
  });

  test('says that it does not keep what is too large', () => {
    expect(jarOf().keep('a', 'x'.repeat(5_000))).toBe(false);
  });
});

describe('a jar with cookies of one name in other places', () => {
  test('leaves one, the value that was kept last', () => {
    const browser = browserOf('kept');
    const page = browser.page(ADDRESS);
    const places = cookiePlaces(ADDRESS);
    for (const [i, { domain, path }] of places.entries())
      page.cookie = `a=${i}; Path=${path}; Max-Age=60${domain === undefined ? '' : `; Domain=${domain}`}`;
    const jar = new CookieJar(page, ADDRESS, 'shop.example');
    expect(jar.read('a').length).toBeGreaterThan(10);
    expect(jar.keep('a', 'new')).toBe(true);
    expect(jar.read('a')).toEqual(['new']);
    expect(browser.named('a')).toEqual(['new']);
  });
});

describe.each(KINDS)('a store whose storage is %s', (keeping) => {
  test('holds what the page wrote for as long as the page lives, and says whether it lasts', () => {
    const browser = browserOf(keeping);
    const store = new PageStore(browser.storageOf('www.shop.example'));
    expect(store.read('name', isText)).toBeUndefined();
    expect(store.write('name', 'one')).toBe(keeping === 'kept');
    expect(store.write('name', 'two')).toBe(keeping === 'kept');
    expect(store.read('name', isText)).toBe('two');
    expect(store.names('na')).toEqual(['name']);
    browser.clear();
    expect(store.read('name', isText)).toBe('two');
    const later = new PageStore(browser.storageOf('www.shop.example'));
    expect(later.read('name', isText)).toBeUndefined();
    store.remove('name');
    expect(store.read('name', isText)).toBeUndefined();
    expect(store.names('')).toEqual([]);
  });

  test('does not show an older value when the newer one could not be stored', () => {
    const browser = browserOf('kept');
    const store = new PageStore(browser.storageOf('www.shop.example'));
    store.write('name', 'old');
    browser.storage = keeping;
    store.write('name', 'new');
    browser.storage = 'kept';
    expect(['new', ...(keeping === 'kept' || keeping === 'full' ? [] : ['old'])]).toContain(store.read('name', isText));
  });
});

describe('a transport', () => {
  const received: number[] = [];
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => {
      received.push(bytes);
      response.writeHead(202, { 'content-type': 'application/json' }).end('{"data":1}');
    });
  });
  let origin = '';
  const ports = { network: fetchAnswer, cryptography: webCryptography, clock: () => Date.now() };
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address: AddressInfo | string | null = server.address();
    origin = typeof address === 'string' || address === null ? '' : `http://127.0.0.1:${address.port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test.each([0, 1_000, 16_384, 16_385, 65_536, 72_000, 1_000_000])('sends %i bytes', async (size) => {
    const answer = await new Service(origin, 'key', ports).post('/tool/v1/consents', 'ğ'.repeat(size / 2));
    expect(answer).toMatchObject({ status: 202, body: { data: 1 }, retryAfterMs: null });
    expect(received.at(-1)).toBe(2 * Math.floor(size / 2));
  });

  test('answers with status 0 without a network', async () => {
    const answer = await new Service('http://127.0.0.1:1', 'key', ports).post('/tool/v1/consents', '{}');
    expect(answer).toEqual({ status: 0, body: null, retryAfterMs: null });
  });
});
