import { expect, it } from 'vitest';
import { coversName } from '../../../schemas/text/name-pattern.js';
import { findingsOf } from '../../../src/tenancy/scans/scan-site.js';
import { isUnder, pageUrl } from '../../../src/tenancy/scans/scan-target.js';

it.each([
  ['_ga', '_ga', true],
  ['_ga', '_gat', false],
  ['_ga_*', '_ga_ABC', true],
  ['_ga_*', '_ga_', true],
  ['_ga_*', 'x_ga_ABC', false],
  ['*_id', 'user_id', true],
  ['*_id', 'user_ids', false],
  ['a*b*c', 'axxbxxc', true],
  ['a*b*c', 'abc', true],
  ['a*b*c', 'acb', false],
  ['a*a', 'a', false],
  ['*', '', true],
  ['a.c', 'abc', false],
])('the declared name %s and the name %s: %s', (pattern, name, isMatch) => {
  expect(coversName(pattern, name)).toBe(isMatch);
});

it('compares a name with a pattern of many asterisks without trying every way to place them', () => {
  // They are more than a computer can try.
  expect(coversName(`${'*a'.repeat(99)}*b`, 'a'.repeat(200))).toBe(false);
});

it('takes a host as part of a domain only at a dot', () => {
  expect(isUnder('shop.example', 'shop.example')).toBe(true);
  expect(isUnder('www.shop.example', 'shop.example')).toBe(true);
  for (const host of ['xshop.example', 'shop.example.evil.example', 'shop.example.', 'example'])
    expect(isUnder(host, 'shop.example'), host).toBe(false);
});

it.each([
  'ftp://shop.example/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/html,x',
  'shop.example',
  '//shop.example/',
  'https://user@shop.example/',
  'https://:secret@shop.example/',
  'https://shop.example:6379/',
  'https://shop.example.evil.example/',
  'https://shop.example%2eevil.example/',
  'https://evil.example/?https://shop.example/',
  'https://evil.example#@shop.example/',
])('takes %s for no page of the domain', (text) => {
  const url = pageUrl(text);
  expect(url !== null && url.port === '' && isUnder(url.hostname, 'shop.example')).toBe(false);
});

it('takes a page without its fragment', () => {
  expect(pageUrl('HTTPS://Shop.example:443/a?b=c#d')?.href).toBe('https://shop.example/a?b=c');
});

it('finds nothing in what the banner of the service stores', () => {
  const cookie = {
    domain: 'shop.example',
    path: '/',
    party: 'first',
    duration_seconds: 60,
    http_only: false,
    secure: true,
    category: null,
  } as const;
  const visit = {
    choice: 'refused',
    final_url: 'https://shop.example/',
    status: 200,
    is_complete: true,
    cookies: ['_svc_consent', '_svc_visitor', '_svc'].map((name) => ({ name, ...cookie })),
    storage: [{ kind: 'local_storage', name: '_svc_consent:visitor', category: null }],
    third_party_hosts: [],
  } as const;
  const visits = [{ ...visit, cookies: [...visit.cookies], storage: [...visit.storage], third_party_hosts: [] }];
  expect(findingsOf(visits, null).map(({ name }) => name)).toEqual(['_svc']);
});
