import { expect, test } from 'vitest';
import { coveredBy, declaredOf } from '../../../sdk/browser/src/withdrawn-names.js';
import { ModelBrowser } from '../../../sdk/conformance/src/browser.js';
import { CookieJar } from '../../../sdk/core/cookie-jar.js';

const cookie = (name: string, party = 'first') => ({ name, party, provider: 'Shop', duration_seconds: 1, purpose: '' });
const CATEGORIES = [
  { key: 'necessary', required: true, cookies: [cookie('session'), cookie('_ads_keep')] },
  { key: 'analytics', required: false, cookies: [cookie('_visits'), cookie('_ga*x*')] },
  {
    key: 'marketing',
    required: false,
    cookies: [cookie('_ads_*'), cookie('_vi*'), cookie('_m*'), cookie('*'), cookie('uid', 'third'), cookie('_svc_*')],
  },
];
const NAMES = [
  'session',
  '_visits',
  '_visitor',
  '_ads_1',
  '_ads_keep',
  '_m1',
  'uid',
  'other',
  '_ga_xy',
  '_svc_consent',
];

test.each([
  ['everything', ['analytics', 'marketing'], []],
  // `_vi*` covers `_visits`, which a permitted category declares as well.
  ['analytics alone', ['analytics'], ['_visitor', '_ads_1']],
  // What is permitted may declare `*`, which covers everything.
  ['marketing alone', ['marketing'], []],
  ['nothing', [], ['_visits', '_visitor', '_ads_1', '_ga_xy']],
])('where the visitor permits %s, these names end', (_, permitted, ended) => {
  const [stay, end] = declaredOf(CATEGORIES, { allows: (key) => permitted.includes(key), allowsService: () => false });
  expect(coveredBy(end, stay, NAMES)).toEqual(ended);
});

test('a cookie is deleted on every domain and path that the page reaches, and no other one', () => {
  const address = { protocol: 'https:', hostname: 'www.shop.example', pathname: '/de/cart/' };
  const browser = new ModelBrowser(() => 0);
  const page = browser.page(address);
  for (const place of ['', '; Domain=shop.example', '; Path=/de', '; Domain=www.shop.example; Path=/de/cart/'])
    page.cookie = `_visits=1; Max-Age=60${place === '' ? '; Path=/' : place}`;
  page.cookie = 'other=1; Max-Age=60; Path=/';
  const jar = new CookieJar(page, address, undefined);
  jar.forget('_visits');
  expect(page.cookie).toBe('other=1');
  expect(browser.named('_visits').filter((value) => value !== '')).toEqual([]);
});
