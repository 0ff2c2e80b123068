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
  ask_again_at: NOW + 180 * 86_400_000,
};
const VISITOR = `_svc_visitor=mju4tzls/${'ab'.repeat(16)}`;
const textOf = (changes: object = {}) => encodeURIComponent(JSON.stringify({ ...CHOICE, ...changes }));
const cookieOf = (changes: object = {}) => `_svc_consent=${textOf(changes)}`;
const renew = (cookie: string | undefined, more: Partial<RenewalRequest> = {}) =>
  renewedCookies({ cookie, host: 'www.shop.example', ...more });

describe('cookies that a site’s own server sets again', () => {
  test('keep their values, for as long as browsers keep any', () => {
    const attributes = '; Path=/; Max-Age=34560000; SameSite=Lax';
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

  test.each([
    ['an opt-out without a choice', { state: 'v', consent_token: undefined, opt_out: true }],
    ['an opt-out that was taken back', { state: 'v', consent_token: undefined, opt_out: false }],
    ['an objection', { state: 'v', consent_token: undefined, exempt: '!statistics' }],
    ['a choice whose period is over, which its own value says', { ask_again_at: 1 }],
  ])('are kept for %s', (_, changes) => {
    expect(renew(cookieOf(changes))[0]).toContain('; Max-Age=34560000;');
  });

  test.each([
    ['no header', undefined],
    ['another cookie', '_svc_consent_=x; x_svc_consent=y'],
    ['no choice', '_svc_consent=hello'],
    ['half an encoding', '_svc_consent=%7B%'],
    ['a line break', `_svc_consent=${JSON.stringify(CHOICE)}\r\nSet-Cookie: a=b`],
    ['raw JSON, with quotes and commas', `_svc_consent=${JSON.stringify(CHOICE)}`],
    ['a choice that the service has not accepted', cookieOf({ consent_token: undefined })],
    ['a token of another kind', cookieOf({ consent_token: 'ct_1; Domain=evil.example' })],
    ['the end of a choice', cookieOf({ state: 'v' })],
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
