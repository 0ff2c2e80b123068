import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectFieldError, retryAfter } from '../support/answers.js';
import type { Answer } from '../support/http.js';
import { type Shop, TokensAnswer } from '../support/shop.js';
import type { World } from '../support/world.js';

const LOGIN = '/api/v1/auth/login';
const REFRESH = '/api/v1/auth/refresh';

/** Specification, Endpoints (login, refresh, me) and Authentication. */
export function signInRules(world: World): void {
  describe('Sign-in', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await world.shop();
    });
    const me = (authorization: string | undefined): Promise<Answer> =>
      shop.http.send({ method: 'GET', path: '/api/v1/auth/me', headers: { authorization } });

    test('Login gives a JWT', async () => {
      const { access_token } = await shop.signIn(shop.seed.api_user);
      expect(access_token.split('.')).toHaveLength(3);
    });
    test('A wrong password and an unknown user are told alike: 401', async () => {
      const { email } = shop.seed.api_user;
      const wrong = await shop.postOpen(LOGIN, { email, password: 'wrong-password' });
      const unknown = await shop.postOpen(LOGIN, { email: `${randomUUID()}@x.example`, password: 'wrong-password' });
      expectError(wrong, 401, 'INVALID_CREDENTIALS');
      expect(unknown.json).toEqual(wrong.json);
    });
    for (const field of ['email', 'password']) {
      test(`Login without ${field}: 422 VALIDATION_ERROR, naming it in errors`, async () => {
        expectFieldError(await shop.postOpen(LOGIN, { ...shop.seed.api_user, [field]: undefined }), field);
      });
    }
    test('Refresh renews: the new JWT is good for S2S routes', async () => {
      const { refresh_token } = await shop.signIn(shop.seed.api_user);
      const answer = await shop.postOpen(REFRESH, { refresh_token });
      const { access_token } = TokensAnswer.parse(answer.json).data;
      expect((await shop.mint({}, { headers: { authorization: `Bearer ${access_token}` } })).status).toBe(201);
    });
    test('A JWT of login is no refresh token: 401', async () => {
      expect((await shop.postOpen(REFRESH, { refresh_token: await shop.bearer() })).status).toBe(401);
    });
    test('A refresh token that is none: 401', async () => {
      expect((await shop.postOpen(REFRESH, { refresh_token: 'nonsense' })).status).toBe(401);
    });
    test('Me answers with the panel user', async () => {
      const { access_token } = await shop.signIn(shop.seed.panel_user);
      const answer = await me(`Bearer ${access_token}`);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.text).toContain(shop.seed.panel_user.email);
    });
    test('Me without a token: 401 MISSING_BEARER_TOKEN', async () => {
      expectError(await me(undefined), 401, 'MISSING_BEARER_TOKEN');
    });
    test('Me with a token that is none: 401 INVALID_BEARER_TOKEN', async () => {
      expectError(await me('Bearer nonsense'), 401, 'INVALID_BEARER_TOKEN');
    });
    test('An api_user cannot use the panel: 403 INSUFFICIENT_ROLE', async () => {
      expectError(await me(`Bearer ${await shop.bearer()}`), 403, 'INSUFFICIENT_ROLE');
    });
    test('Guessing passwords of one account ends in 429 TOO_MANY_SIGN_IN_ATTEMPTS, with Retry-After', async () => {
      const guess = { email: `${randomUUID()}@x.example`, password: 'a guess' };
      let answer = await shop.postOpen(LOGIN, guess, { from: '127.0.0.42' });
      for (let i = 0; i < 100 && answer.status === 401; i++) {
        answer = await shop.postOpen(LOGIN, guess, { from: '127.0.0.42' });
      }
      expectError(answer, 429, 'TOO_MANY_SIGN_IN_ATTEMPTS');
      retryAfter(answer);
    });
  });
}
