import { describe, expect, test } from 'vitest';
import { type RenewalRequest, renewedCookies } from '../../../sdk/node/src/renewed-cookies.js';

const NOW = Date.UTC(2026, 0, 1);
const CHOICE = {
  at: NOW - 1_000,
  state: 'p',
  decision: 'accepted',
  categories: 'necessary.analytics',
  document_version_id: '019d0b7f-90c2-7c4e-8d1f-5a6b7c8d9e0f',
  language: 'en',
  consent_token: 'ct_019d0b7f90c27c4e8d1f5a6b7c8d9e0f',
  proof_hash: 'f'.repeat(64),
  created_at: '2025-12-31T23:59:59.000Z',
  valid_until: '2026-06-30T00:00:00.000Z',
};
const VISITOR = `_svc_visitor=mju4tzls/${'ab'.repeat(16)}`;
const textOf = (changes: object = {}) => encodeURIComponent(JSON.stringify({ ...CHOICE, ...changes }));
const cookieOf = (changes: object = {}) => `_svc_consent=${textOf(changes)}`;
const renew = (cookie: string | undefined, more: Partial<RenewalRequest> = {}) =>
  renewedCookies({ cookie, host: 'www.shop.example', now: NOW, ...more });

describe('cookies that a site’s own server sets again', () => {
  test('keep their values, for the rest of the validity', () => {
    const attributes = '; Path=/; Max-Age=15552000; SameSite=Lax';
    const mark = '_svc_renewed=1; Path=/; Max-Age=60; SameSite=Lax';
    expect(renew(`a=b; ${cookieOf()}; ${VISITOR}`)).toEqual([
      `${cookieOf()}${attributes}; Secure`,
      `${VISITOR}${attributes}; Secure`,
      `${mark}; Secure`,
    ]);
    const shared = { cookieDomain: 'shop.example', isSecure: false, host: 'WWW.shop.example:8080' };
    const inDomain = [`${cookieOf()}${attributes}; Domain=shop.example`, `${mark}; Domain=shop.example`];
    expect(renew(cookieOf(), shared)).toEqual(inDomain);
    // As browsers read it; and over HTTP/2, which has no Host.
    for (const cookieDomain of ['.shop.example', 'Shop.Example'])
      expect(renew(cookieOf(), { ...shared, cookieDomain })).toEqual(inDomain);
    expect(renew(cookieOf(), { ...shared, host: undefined })).toEqual(inDomain);
  });

  test.each(['example', 'shop.example; Secure', '', '..shop.example'])('cannot be of the domain %j', (cookieDomain) => {
    expect(() => renew(cookieOf(), { cookieDomain })).toThrow(RangeError);
  });

  test('last 400 days at most, also where the choice has no end', () => {
    for (const valid_until of [null, '9999-01-01T00:00:00.000Z'])
      expect(renew(cookieOf({ valid_until }))[0]).toContain('; Max-Age=34560000;');
  });

  test.each([
    ['no header', undefined],
    ['another cookie', '_svc_consent_=x; x_svc_consent=y'],
    ['no choice', '_svc_consent=hello'],
    ['half an encoding', '_svc_consent=%7B%'],
    ['a line break', `_svc_consent=${JSON.stringify(CHOICE)}\r\nSet-Cookie: a=b`],
    ['raw JSON, with quotes and commas', `_svc_consent=${JSON.stringify(CHOICE)}`],
    ['a choice that the service has not accepted', cookieOf({ consent_token: undefined, valid_until: undefined })],
    ['a token of another kind', cookieOf({ consent_token: 'ct_1; Domain=evil.example' })],
    ['the end of a choice', cookieOf({ state: 'v' })],
    ['a choice that has expired', cookieOf({ valid_until: '2026-01-01T00:00:00.000Z' })],
    ['an end that is no time', cookieOf({ valid_until: 'soon' })],
    ['two choices', `${cookieOf()}; ${cookieOf({ decision: 'withdrawn', categories: '' })}`],
    ['more than a browser keeps', cookieOf({ language: 'x'.repeat(4_000) })],
    ['a visitor alone', VISITOR],
  ])('are none for %s', (_, cookie) => {
    expect(renew(cookie)).toEqual([]);
  });

  test.each([
    ['www.shop.example', 'evil.example'],
    ['www.shop.example', 'op.example'],
    ['shop.example', 'www.shop.example'],
    ['shop.example.evil.example', 'shop.example'],
  ])('are none on the host %s for the domain %s', (host, cookieDomain) => {
    expect(renew(cookieOf(), { host, cookieDomain })).toEqual([]);
  });

  test.each([`${VISITOR}; _svc_visitor=1/${'00'.repeat(16)}`, '_svc_visitor=customer-1', '_svc_visitor=1/AB'])(
    'leave out a visitor such as %s',
    (visitors) => {
      expect(renew(`${cookieOf()}; ${visitors}`)).toHaveLength(2);
    },
  );
});
