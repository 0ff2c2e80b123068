import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LoginRequest, MeResponse, TokensResponse } from '../../../schemas/api/auth.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { type Answer, ask, type RunningApp, startApp } from '../server/running-app.js';

describe('signing in', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  beforeAll(async () => {
    app = await startApp('api', { TRUSTED_PROXIES: '127.0.0.1' });
    demo = await app.seed();
  });
  afterAll(() => app.stop());

  const post = (path: string, body: string): Promise<Answer> =>
    ask(app.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const login = (content: object) => post('/api/v1/auth/login', JSON.stringify(content));
  const loginFrom = (address: string, content: object): Promise<Answer> =>
    ask(`${app.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: JSON.stringify(content),
    });

  it('signs users in, renews, and says who they are', async () => {
    const answer = await login(demo.panel_user);
    expect(answer.status).toBe(200);
    const { data } = TokensResponse.parse(answer.body);
    expect(LoginRequest.safeParse(demo.panel_user).success).toBe(true);
    const me = await ask(`${app.url}/api/v1/auth/me`, { headers: { authorization: `Bearer ${data.access_token}` } });
    expect(MeResponse.parse(me.body).data).toEqual({ ...data.user, email: demo.panel_user.email, role: 'owner' });
    const renewed = await post('/api/v1/auth/refresh', JSON.stringify({ refresh_token: data.refresh_token }));
    expect(TokensResponse.parse(renewed.body).data.user).toEqual(data.user);

    const invalid = { status: 401, body: { code: 'INVALID_BEARER_TOKEN' } };
    expect(await post('/api/v1/auth/refresh', JSON.stringify({ refresh_token: data.access_token }))).toMatchObject(
      invalid,
    );
    const asAccess = { headers: { authorization: `Bearer ${data.refresh_token}` } };
    expect(await ask(`${app.url}/api/v1/auth/me`, asAccess)).toMatchObject(invalid);
    const [head = '', , signature = ''] = data.access_token.split('.');
    const forged = Buffer.from(
      JSON.stringify({ sub: data.user.id, exp: 4e9, iss: 'consent-ledger', aud: 'consent-ledger' }),
    );
    const withForged = { headers: { authorization: `Bearer ${head}.${forged.toString('base64url')}.${signature}` } };
    expect(await ask(`${app.url}/api/v1/auth/me`, withForged)).toMatchObject(invalid);
    expect(await ask(`${app.url}/api/v1/auth/me`)).toMatchObject({
      status: 401,
      body: { code: 'MISSING_BEARER_TOKEN' },
    });

    const api = TokensResponse.parse((await login(demo.api_user)).body).data;
    const asApi = { headers: { authorization: `Bearer ${api.access_token}` } };
    expect(await ask(`${app.url}/api/v1/auth/me`, asApi)).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_ROLE' },
    });
  });

  it('has no passkeys without a public URL, and says so', async () => {
    expect(await ask(`${app.url}/api/v1/auth/options`)).toMatchObject({ body: { data: { passkeys: false } } });
    const refused = { status: 409, body: { code: 'PASSKEYS_NOT_CONFIGURED' } };
    expect(await post('/api/v1/auth/passkeys/challenge', '{"for":"sign_in"}')).toMatchObject(refused);
    const { data } = TokensResponse.parse((await login(demo.panel_user)).body);
    const begun = await ask(`${app.url}/api/v1/auth/passkeys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${data.access_token}` },
      body: JSON.stringify({ current_password: demo.panel_user.password }),
    });
    expect(begun).toMatchObject(refused);
  });

  it('shuts a disabled user out', async () => {
    const other = await app.seed();
    const { data } = TokensResponse.parse((await login(other.panel_user)).body);
    await app.change('update users set disabled_at = now() where id = $1', [data.user.id]);
    expect(await login(other.panel_user)).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } });
    await expect
      .poll(
        async () => (await post('/api/v1/auth/refresh', JSON.stringify({ refresh_token: data.refresh_token }))).status,
      )
      .toBe(401);
  });

  it('tries no more passwords than it says, however many come at once, and forgets right ones', async () => {
    const other = await app.seed();
    const before = await Promise.all(Array.from({ length: 8 }, () => login(other.panel_user)));
    expect(before.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const guesses = await Promise.all(
      Array.from({ length: 24 }, () => login({ ...other.panel_user, password: 'guess' })),
    );
    const tried = guesses.filter(({ status }) => status === 401).length;
    expect(tried).toBeLessThanOrEqual(20);
    expect(tried).toBeGreaterThan(0);
    expect(guesses.some(({ status }) => status === 429)).toBe(true);
  });

  it.each([
    ['198.51.100.1', '198.51.100.1', '198.51.100.2'],
    ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1'],
  ])('locks a guesser’s network out of an account, not its user elsewhere (%s)', async (guesser, near, elsewhere) => {
    const { panel_user } = await app.seed();
    const guesses = await Promise.all(
      Array.from({ length: 25 }, () => loginFrom(guesser, { ...panel_user, password: 'guess' })),
    );
    expect(guesses.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(5);
    expect((await loginFrom(elsewhere, panel_user)).status).toBe(200);
    // A minute may end meanwhile.
    const guessOn = async (): Promise<number> => {
      for (let i = 0; i < 3; i += 1) await loginFrom(guesser, { ...panel_user, password: 'guess' });
      return (await loginFrom(near, panel_user)).status;
    };
    await expect.poll(guessOn).toBe(429);
  });

  it('slows guessing from many addresses down', async () => {
    const { panel_user } = await app.seed();
    // A minute may end meanwhile.
    const guesses = await Promise.all(
      Array.from({ length: 215 }, (_, i) => loginFrom(`203.0.113.${i}`, { ...panel_user, password: 'guess' })),
    );
    expect(guesses.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(15);
  });

  it('begins no more sign-ins of one user a minute than it says', async () => {
    const { panel_user } = await app.seed();
    const answers: Awaited<ReturnType<typeof loginFrom>>[] = [];
    // A few at a time: of many at once, a slow machine answers some with 503.
    while (answers.length < 75 && answers.every(({ status }) => status === 200))
      answers.push(
        ...(await Promise.all(
          Array.from({ length: 5 }, (_, i) => loginFrom(`192.0.2.${answers.length + i}`, panel_user)),
        )),
      );
    const began = answers.filter(({ status }) => status === 200).length;
    // A minute may end meanwhile.
    expect([began >= 30, began <= 60]).toEqual([true, true]);
    expect(answers.find(({ status }) => status !== 200)).toMatchObject({
      status: 429,
      body: { code: 'TOO_MANY_SIGN_IN_ATTEMPTS' },
    });
  });

  it('does not reveal whether e-mail address or password was wrong, and limits guesses', async () => {
    const other = await app.seed();
    const wrong = await login({ ...other.panel_user, password: 'not this one' });
    const unknown = await login({ email: 'nobody@shop.example', password: 'not this one' });
    expect(wrong).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } });
    expect(unknown.body).toEqual(wrong.body);
    for (let i = 0; i < 12; i += 1) await login({ ...other.panel_user, password: 'guess' });
    const refused = await login({ ...other.panel_user, password: 'guess' });
    expect(refused).toMatchObject({ status: 429, body: { code: 'TOO_MANY_SIGN_IN_ATTEMPTS' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });
});
