import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CookieTokensResponse, TokensResponse } from '../../../schemas/api/auth.js';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { type PanelApp, startPanel } from '../panel/panel-fixture.js';
import { type Answer, ask } from '../server/running-app.js';

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };
const IN_COOKIE = { refresh_token_in: 'cookie' };
const COOKIE =
  /^__Host-consent_ledger_refresh=(clr_[\w-]{43}); Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=604800$/;
const CLEARED = '__Host-consent_ledger_refresh=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0';

describe('the cookie of the refresh token', () => {
  let panel: PanelApp;
  beforeAll(async () => {
    panel = await startPanel();
  });
  afterAll(() => panel.stop());

  const post = (path: string, body: object, headers: Record<string, string> = SAME_ORIGIN): Promise<Answer> =>
    ask(`${panel.app.url}/api/v1/auth/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const credentials = () => {
    const { email, password } = panel.own.users.viewer;
    return { email, password };
  };
  const signIn = async (): Promise<string> => tokenOf(await post('login', { ...credentials(), ...IN_COOKIE }));
  const renew = (token: string, headers: Record<string, string> = SAME_ORIGIN) =>
    post('refresh', IN_COOKIE, { cookie: cookie(token), ...headers });

  it('has the token instead of the body, and renews the sign-in', async () => {
    const signedIn = await post('login', { ...credentials(), ...IN_COOKIE });
    expect(signedIn.status).toBe(200);
    expect(CookieTokensResponse.strict().parse(signedIn.body).data).not.toHaveProperty('refresh_token');
    const renewed = await renew(tokenOf(signedIn));
    expect(renewed.status).toBe(200);
    expect(renewed.body).not.toHaveProperty('data.refresh_token');
    expect(tokenOf(renewed)).not.toBe(tokenOf(signedIn));
    expect(
      (await renew(tokenOf(renewed), { cookie: `other=1; ${cookie(tokenOf(renewed))}; x=2`, ...SAME_ORIGIN })).status,
    ).toBe(200);
  });

  it('is not set unless the request asks for it', async () => {
    const signedIn = await post('login', credentials());
    expect([signedIn.headers.get('set-cookie'), TokensResponse.safeParse(signedIn.body).success]).toEqual([null, true]);
  });

  it('is not read by a request that has its token in the body', async () => {
    expect(await post('refresh', {}, { cookie: cookie(await signIn()) })).toMatchObject({
      status: 422,
      body: { code: 'VALIDATION_ERROR', errors: [{ field: 'refresh_token' }] },
    });
  });

  it('is set when an invitation is accepted', async () => {
    const invited = await panel.as(panel.own.users.owner, 'POST', '/invitations', {
      email: 'new@tenant.example',
      role: 'viewer',
    });
    const { token } = z.object({ data: z.object({ token: z.string() }) }).parse(invited.body).data;
    const accepted = await post('accept-invitation', {
      token,
      password: 'a horse that staples batteries',
      ...IN_COOKIE,
    });
    expect(accepted.status).toBe(201);
    expect((await renew(tokenOf(accepted))).status).toBe(200);
  });

  it('gives two tabs that renew at once the same next token', async () => {
    const token = await signIn();
    const [one, other] = await Promise.all([renew(token), renew(token)]);
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(tokenOf(one)).toBe(tokenOf(other));
    expect((await renew(tokenOf(one))).status).toBe(200);
  });

  it('is removed when the sign-in has ended, and at sign-out', async () => {
    const token = await signIn();
    const renewed = await renew(token);
    const { access_token } = CookieTokensResponse.parse(renewed.body).data;
    const headers = { authorization: `Bearer ${access_token}`, cookie: cookie(tokenOf(renewed)) };
    const signedOut = await post('logout', {}, headers);
    expect([signedOut.status, signedOut.headers.get('set-cookie')]).toEqual([200, CLEARED]);
    const refused = await renew(tokenOf(renewed));
    expect(refused).toMatchObject({ status: 401, body: { code: 'INVALID_BEARER_TOKEN' } });
    expect(refused.headers.get('set-cookie')).toBe(CLEARED);
    expect(await post('refresh', IN_COOKIE)).toMatchObject({ status: 401, body: { code: 'INVALID_BEARER_TOKEN' } });
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling domain', { 'sec-fetch-site': 'same-site' }],
    ['another origin, from a browser without fetch metadata', { origin: 'https://evil.example' }],
    ['a sandboxed page', { origin: 'null' }],
    ['no browser', {}],
  ])('is refused from %s, without using up the token', async (_, headers) => {
    const token = await signIn();
    const refused = { status: 403, body: { code: 'CROSS_SITE_REQUEST' } };
    expect(await post('refresh', IN_COOKIE, { cookie: cookie(token), ...headers })).toMatchObject(refused);
    expect(await post('login', { ...credentials(), ...IN_COOKIE }, headers)).toMatchObject(refused);
    expect((await renew(token)).status).toBe(200);
  });

  it('is accepted from the own origin of a browser without fetch metadata', async () => {
    expect((await renew(await signIn(), { origin: panel.app.url })).status).toBe(200);
  });

  it.skipIf(chromiumPath === undefined)(
    'is kept by Chromium over http on localhost, out of reach of scripts',
    async () => {
      const page = await ChromiumPage.open(chromiumPath ?? '');
      try {
        await page.send('Page.setBypassCSP', { enabled: true });
        for (const host of ['127.0.0.1', 'localhost']) {
          const { port } = new URL(panel.app.url);
          await page.goto(`http://${host}:${port}/llms.txt`);
          const call = (path: string, body: object) =>
            page.evaluate(`fetch('/api/v1/auth/${path}', { method: 'POST', headers: { 'content-type': 'application/json' },
            body: ${JSON.stringify(JSON.stringify(body))} }).then((answer) => answer.status)`);
          expect([await call('login', { ...credentials(), ...IN_COOKIE }), await call('refresh', IN_COOKIE)]).toEqual([
            200, 200,
          ]);
          expect(await page.evaluate('document.cookie')).toBe('');
        }
      } finally {
        await page.close();
      }
    },
  );
});

function cookie(token: string): string {
  return `__Host-consent_ledger_refresh=${token}`;
}

function tokenOf({ headers }: Answer): string {
  const [, token] = COOKIE.exec(headers.get('set-cookie') ?? '') ?? [];
  if (token === undefined) throw new Error(`no refresh token in ${headers.get('set-cookie')}`);
  return token;
}
