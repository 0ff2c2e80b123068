import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuthOptionsResponse, SignUpRequestedResponse, TokensResponse } from '../../../schemas/api/auth.js';
import { newSignUpToken, type WantedAccount } from '../../../src/accounts/sign-up/sign-up-tokens.js';
import { type Answer, ask, type RunningApp, startApp } from '../server/running-app.js';

const PASSWORD = 'a horse that staples batteries';
let app: RunningApp;

const post = (path: string, body: object): Promise<Answer> =>
  ask(`${app.url}/api/v1/auth/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const newAddress = (): string => `owner-${randomUUID()}@shop.example`;
const options = async () => AuthOptionsResponse.parse((await ask(`${app.url}/api/v1/auth/options`)).body).data;

describe('an installation with open sign-up and without mail', () => {
  beforeAll(async () => {
    app = await startApp('api', { SIGN_UP: 'open' });
  });
  beforeEach(async () => {
    await app.superuser.query('delete from rate_limit_windows');
  });
  afterAll(() => app.stop());

  const signUp = async (email: string, organisation = 'Shop Ltd'): Promise<string> => {
    const answer = await post('sign-up', { organisation, email });
    expect(answer.status).toBe(202);
    return SignUpRequestedResponse.parse(answer.body).data.token ?? '';
  };
  const tokenOf = (wanted: Partial<WantedAccount>): Promise<string> =>
    newSignUpToken(app.service.installation.keyring, {
      organisation: 'Shop Ltd',
      email: newAddress(),
      expires_at: '2999-01-01T00:00:00Z',
      ...wanted,
    });
  const invalid = { status: 422, body: { code: 'SIGN_UP_INVALID' } };

  it('creates a tenant with a plan that can record, and its owner, signed in', async () => {
    expect(await options()).toEqual({ mail: false, sign_up: 'open' });
    const email = newAddress();
    const confirmed = await post('confirm-sign-up', { token: await signUp(email.toUpperCase()), password: PASSWORD });
    expect(confirmed.status).toBe(201);
    const { access_token, user } = TokensResponse.parse(confirmed.body).data;
    expect(user).toMatchObject({ email, role: 'owner' });
    const get = (path: string) =>
      ask(`${app.url}/api/v1${path}`, { headers: { authorization: `Bearer ${access_token}` } });
    expect((await get('/tenants')).body).toMatchObject({ data: [{ id: user.tenant_id, name: 'Shop Ltd' }] });
    expect((await get('/subscription')).body).toMatchObject({ data: { name: 'standard', is_active: true } });
    expect((await get('/audit-log?action=tenant.sign_up')).body).toMatchObject({
      data: [{ actor: { user_id: user.id }, subject: { kind: 'tenant', id: user.tenant_id } }],
    });
    expect((await post('login', { email, password: PASSWORD })).status).toBe(200);
  });

  it('uses a token once, also among requests at once, and for an address without a user only', async () => {
    const email = newAddress();
    const [token, other] = [await signUp(email), await signUp(email, 'Another')];
    const answers = await Promise.all(
      [token, token, other].map((one) => post('confirm-sign-up', { token: one, password: PASSWORD })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
    expect(await post('confirm-sign-up', { token: await signUp(email), password: PASSWORD })).toMatchObject(invalid);
    const { rows } = await app.superuser.query(
      'select from tenants t where not exists (select from users where tenant_id = t.id)',
    );
    expect(rows).toEqual([]);
  });

  it('refuses tokens that expired or that the service did not make', async () => {
    const expired = await tokenOf({ expires_at: new Date(Date.now() - 1).toISOString() });
    const right = await tokenOf({});
    const altered = `${right.slice(0, -2)}${right.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const token of [expired, altered, 'cls_', 'cls_AXq2', 'cli_x']) {
      expect(await post('confirm-sign-up', { token, password: PASSWORD }), token).toMatchObject(invalid);
    }
    expect((await post('confirm-sign-up', { token: right, password: PASSWORD })).status).toBe(201);
  });

  it('checks organisation, address and password', async () => {
    const email = newAddress();
    for (const [body, field] of [
      [{ organisation: 'Shop\nLtd', email }, 'organisation'],
      [{ organisation: '', email }, 'organisation'],
      [{ organisation: 'Shop', email: 'nobody' }, 'email'],
      [{ organisation: 'Shop', email: `${email}\r\nBcc: a@b.example` }, 'email'],
    ] as const) {
      expect(await post('sign-up', body)).toMatchObject({ status: 422, body: { errors: [{ field }] } });
    }
    const token = await signUp(email);
    for (const password of ['short', email]) {
      expect(await post('confirm-sign-up', { token, password })).toMatchObject({
        status: 422,
        body: { code: 'VALIDATION_ERROR', errors: [{ field: 'password' }] },
      });
    }
  });

  it('limits sign-ups by address, by e-mail address, and of a day', async () => {
    const tokens = await Promise.all(Array.from({ length: 12 }, () => tokenOf({})));
    const confirmed = [];
    for (const token of tokens) confirmed.push((await post('confirm-sign-up', { token, password: PASSWORD })).status);
    // A minute may end meanwhile.
    expect(confirmed.filter((status) => status === 201).length).toBeLessThanOrEqual(10);
    expect(confirmed.at(-1)).toBe(429);
    const email = newAddress();
    const asked = [];
    for (let i = 0; i < 8; i += 1) asked.push((await post('sign-up', { organisation: 'Shop', email })).status);
    expect(asked.filter((status) => status === 202).length).toBeLessThanOrEqual(6);
    expect(asked.at(-1)).toBe(429);
    await app.superuser.query('delete from rate_limit_windows');
    await app.superuser.query(
      `insert into tenants (id, name) select gen_random_uuid(), 'T' from generate_series(1, 500)`,
    );
    expect(await post('confirm-sign-up', { token: await tokenOf({}), password: PASSWORD })).toMatchObject({
      status: 429,
      body: { code: 'TENANT_LIMIT_EXCEEDED' },
    });
  });
});

describe('an installation by invitation', () => {
  beforeAll(async () => {
    app = await startApp('api');
  });
  afterAll(() => app.stop());

  it('refuses to sign up, also with a token of a time when it was open', async () => {
    expect(await options()).toEqual({ mail: false, sign_up: 'invite' });
    const closed = { status: 403, body: { code: 'SIGN_UP_CLOSED' } };
    expect(await post('sign-up', { organisation: 'Shop', email: newAddress() })).toMatchObject(closed);
    const token = await newSignUpToken(app.service.installation.keyring, {
      organisation: 'Shop',
      email: newAddress(),
      expires_at: '2999-01-01T00:00:00Z',
    });
    expect(await post('confirm-sign-up', { token, password: PASSWORD })).toMatchObject(closed);
  });
});
