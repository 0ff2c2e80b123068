import { hash } from '@node-rs/argon2';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { MeResponse, TokensResponse } from '../../../schemas/api/auth.js';
import { SignIn } from '../../../schemas/api/panel/sign-ins.js';
import { pruneSignIns } from '../../../src/accounts/sign-in/sign-ins.js';
import type { Service } from '../../../src/app/start-service.js';
import { startSecondProcess } from '../../accounts/sign-in/second-process.js';
import { type Answer, ask } from '../server/running-app.js';
import { type PanelApp, type PanelTenant, type PanelUser, startPanel } from './panel-fixture.js';

const Lines = z.object({ data: z.array(z.looseObject({ action: z.string(), details: z.looseObject({}) })) });
const SignIns = z.object({ data: z.array(SignIn) });

describe('sign-in', () => {
  let panel: PanelApp;
  let second: Service;
  let tenant: PanelTenant;
  let user: PanelUser;
  beforeAll(async () => {
    panel = await startPanel();
    second = await startSecondProcess(panel.app);
  });
  beforeEach(async () => {
    // Failures of one test are not to throttle the next: all come from one address.
    await panel.app.superuser.query('delete from rate_limit_windows');
    tenant = await panel.makeTenant();
    user = tenant.users.viewer;
  });
  afterAll(async () => {
    await second.stop();
    await panel.stop();
  });

  const post = (path: string, body: unknown, token?: string, url = panel.app.url): Promise<Answer> =>
    ask(`${url}/api/v1/auth/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
  const refresh = (token: string, url = panel.app.url, agent = 'Backend/1.0') =>
    ask(`${url}/api/v1/auth/refresh`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': agent },
      body: JSON.stringify({ refresh_token: token }),
    });
  const tokensOf = (answer: Answer) => TokensResponse.parse(answer.body).data;
  const signIn = async (who: PanelUser = user) => tokensOf(await panel.signIn(who.email, who.password));
  const me = (token: string, url = panel.app.url) =>
    ask(`${url}/api/v1/auth/me`, { headers: { authorization: `Bearer ${token}` } });
  const expectShutOut = async (accessToken: string): Promise<void> => {
    for (const url of [panel.app.url, second.url]) {
      await expect.poll(async () => (await me(accessToken, url)).status).toBe(401);
    }
  };
  const linesOf = async (action: string) =>
    Lines.parse((await panel.as(tenant.users.owner, 'GET', `/audit-log?action=${action}`)).body).data;
  /** Lets renewals be as if they had happened some seconds earlier. */
  const passSeconds = async (seconds: number): Promise<void> => {
    await panel.app.change('update sign_ins set renewed_at = renewed_at - make_interval(secs => $1)', [seconds]);
  };
  const lasting = async (userId: string): Promise<number> => {
    const { rowCount } = await panel.app.superuser.query(
      'select from sign_ins where user_id = $1 and ended_at is null and lapses_at > now()',
      [userId],
    );
    return rowCount ?? 0;
  };

  it('gives access tokens that name the user and the sign-in, and nothing personal', async () => {
    const { access_token, expires_in } = await signIn();
    expect(decodeProtectedHeader(access_token)).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: expect.any(String) });
    const { iat = 0, exp = 0, ...claims } = decodeJwt(access_token);
    expect([exp - iat, expires_in]).toEqual([900, 900]);
    expect(claims).toEqual({ iss: 'consent-ledger', aud: 'consent-ledger', sub: user.id, sid: expect.any(String) });
  });

  it('renews with each refresh token once, in any process', async () => {
    let tokens = await signIn();
    for (const url of [panel.app.url, second.url, panel.app.url]) {
      const next = tokensOf(await refresh(tokens.refresh_token, url));
      expect(next.refresh_token).not.toBe(tokens.refresh_token);
      expect(decodeJwt(next.access_token).sid).toBe(decodeJwt(tokens.access_token).sid);
      tokens = next;
    }
    expect(MeResponse.parse((await me(tokens.access_token)).body).data.id).toBe(user.id);
  });

  it('ends the whole sign-in when a used token comes again, and says so in the audit log', async () => {
    const stolen = await signIn();
    const other = await signIn();
    const current = tokensOf(await refresh(stolen.refresh_token));
    await passSeconds(11);
    expect(await refresh(stolen.refresh_token, second.url)).toMatchObject({
      status: 401,
      body: { code: 'INVALID_BEARER_TOKEN' },
    });
    expect((await refresh(current.refresh_token)).status).toBe(401);
    await expectShutOut(current.access_token);
    expect((await refresh(other.refresh_token)).status).toBe(200);
    const reused = (await linesOf('sign_in.end')).filter(({ details }) => details.reason === 'token_reused');
    expect(reused).toMatchObject([
      {
        actor: { kind: 'service', user_id: null },
        subject: { kind: 'sign_in', id: decodeJwt(current.access_token).sid },
        details: { user_id: user.id },
      },
    ]);
  });

  it('gives twenty uses at once by one client the same next token, in two processes', async () => {
    const { refresh_token } = await signIn();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => refresh(refresh_token, i % 2 === 0 ? panel.app.url : second.url)),
    );
    const next = new Set(answers.map((answer) => tokensOf(answer).refresh_token));
    expect(next.size).toBe(1);
    const [token = ''] = next;
    expect(token).not.toBe(refresh_token);
    expect((await refresh(token)).status).toBe(200);
  });

  it.each<[string, (token: string, next: string) => Promise<unknown>]>([
    ['by another user agent', async () => undefined],
    ['after the next token was used', async (_, next) => refresh(next)],
    ['after ten seconds', () => passSeconds(11)],
  ])('takes a repeated renewal %s as a reuse, and ends the sign-in', async (title, between) => {
    const { refresh_token } = await signIn();
    const before = await lasting(user.id);
    const { refresh_token: next } = tokensOf(await refresh(refresh_token));
    await between(refresh_token, next);
    const agent = title.includes('user agent') ? 'Thief/1.0' : undefined;
    expect((await refresh(refresh_token, second.url, agent)).status).toBe(401);
    expect(await lasting(user.id)).toBe(before - 1);
    expect((await refresh(next)).status).toBe(401);
  });

  it('gives nothing for a repeated renewal that an edit of the database allows', async () => {
    const { refresh_token } = await signIn();
    const { access_token } = tokensOf(await refresh(refresh_token));
    await passSeconds(11);
    await panel.app.superuser.query('update sign_ins set renewed_at = now() where id = $1', [
      decodeJwt(access_token).sid,
    ]);
    const repeated = tokensOf(await refresh(refresh_token, second.url));
    await expectShutOut(repeated.access_token);
    const next = tokensOf(await refresh(repeated.refresh_token));
    await expectShutOut(next.access_token);
  });

  it('ends a sign-in that was idle, and any after its absolute lifetime', async () => {
    const idle = await signIn();
    const old = await signIn();
    const change = (access: string, set: string) =>
      panel.app.change(`update sign_ins set ${set} where id = $1`, [decodeJwt(access).sid]);
    await change(idle.access_token, 'lapses_at = now()');
    expect((await refresh(idle.refresh_token)).status).toBe(401);
    await expectShutOut(idle.access_token);
    await change(old.access_token, `lapses_at = now() + interval '1 hour', expires_at = now() + interval '1 hour'`);
    expect((await refresh(old.refresh_token)).status).toBe(200);
    const { rows } = await panel.app.superuser.query(
      `select lapses_at = expires_at as is_cut, expires_at < now() + interval '2 hours' as is_kept from sign_ins where id = $1`,
      [decodeJwt(old.access_token).sid],
    );
    expect(rows).toEqual([{ is_cut: true, is_kept: true }]);
  });

  it('signs out here, with what belongs to the sign-in, and nothing else', async () => {
    const [here, there] = [await signIn(), await signIn()];
    expect(await me(here.access_token, second.url)).toMatchObject({ status: 200 });
    expect(await ask(`${panel.app.url}/api/v1/auth/logout`, asBearer(here.access_token))).toMatchObject({
      status: 200,
      body: { data: { ended_sign_ins: 1 } },
    });
    expect((await refresh(here.refresh_token)).status).toBe(401);
    await expectShutOut(here.access_token);
    expect((await me(there.access_token)).status).toBe(200);
    expect(await linesOf('sign_in.end')).toMatchObject([
      { actor: { kind: 'user', user_id: user.id }, subject: { id: decodeJwt(here.access_token).sid } },
    ]);
    expect(await post('logout', {}, here.access_token)).toMatchObject({ status: 401 });
    expect(await post('logout', { everywhere: 'yes' }, there.access_token)).toMatchObject({ status: 422 });
    expect(await post('logout', {})).toMatchObject({ status: 401, body: { code: 'MISSING_BEARER_TOKEN' } });
  });

  it('signs out everywhere', async () => {
    const all = [await signIn(), await signIn(), await signIn()];
    const answer = await post('logout', { everywhere: true }, all[0]?.access_token);
    // With the one of the fixture.
    expect(answer.body).toMatchObject({ data: { ended_sign_ins: 4 } });
    for (const { access_token, refresh_token } of all) {
      expect((await refresh(refresh_token)).status).toBe(401);
      await expectShutOut(access_token);
    }
  });

  it('lists the own sign-ins page by page, and ends one; never those of others', async () => {
    const mine = [await signIn(), await signIn()];
    const current = mine[1]?.access_token ?? '';
    const listed = await ask(`${panel.app.url}/api/v1/auth/sign-ins`, bearer(current));
    const { data } = SignIns.parse(listed.body);
    expect(data.map(({ is_current }) => is_current)).toEqual([true, false, false]);
    const first = await ask(`${panel.app.url}/api/v1/auth/sign-ins?limit=2`, bearer(current));
    const { next_cursor } = z.object({ next_cursor: z.string() }).parse(first.body);
    const rest = await ask(`${panel.app.url}/api/v1/auth/sign-ins?limit=2&cursor=${next_cursor}`, bearer(current));
    expect([...SignIns.parse(first.body).data, ...SignIns.parse(rest.body).data]).toEqual(data);

    const colleague = { ...tenant.users.owner, accessToken: tenant.users.owner.accessToken };
    for (const id of [data[1]?.id, data[2]?.id]) {
      expect(await panel.as(colleague, 'DELETE', `/auth/sign-ins/${id}`)).toMatchObject({
        status: 404,
        body: { code: 'RESOURCE_NOT_FOUND' },
      });
    }
    const self = { ...user, accessToken: current };
    expect(await panel.as(self, 'DELETE', `/auth/sign-ins/${data[1]?.id}`)).toMatchObject({ status: 200 });
    await expectShutOut(mine[0]?.access_token ?? '');
    expect(await panel.as(self, 'DELETE', `/auth/sign-ins/${data[1]?.id}`)).toMatchObject({ status: 404 });
  });

  it('changes the own password, which ends the other sign-ins', async () => {
    const [here, there] = [await signIn(), await signIn()];
    const change = (current: string, next: string) =>
      post('change-password', { current_password: current, new_password: next }, here.access_token);
    expect(await change('not the one', 'a new password')).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'current_password' }] },
    });
    expect(await change(user.password, 'too short')).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'new_password' }] },
    });
    // At once: one is made.
    const answers = await Promise.all(
      ['first', 'second'].map((name) => change(user.password, `a new password: ${name}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
    expect((await refresh(there.refresh_token)).status).toBe(401);
    await expectShutOut(there.access_token);
    expect((await me(here.access_token)).status).toBe(200);
    expect((await refresh(here.refresh_token)).status).toBe(200);
    expect((await panel.signIn(user.email, user.password)).status).toBe(401);
    const made = answers[0]?.status === 200 ? 'first' : 'second';
    expect((await panel.signIn(user.email, `a new password: ${made}`)).status).toBe(200);
    expect(await linesOf('user.change_password')).toMatchObject([{ subject: { kind: 'user', id: user.id } }]);
  });

  it('throttles guesses of the current password, of refresh tokens, of invitations and of resets', async () => {
    const { access_token, refresh_token } = await signIn();
    const guess = (i: number) =>
      post('change-password', { current_password: `guess ${i}`, new_password: 'a new password' }, access_token);
    const guesses = await Promise.all(Array.from({ length: 14 }, (_, i) => guess(i)));
    const told = new Set(guesses.map(({ status }) => status));
    expect(told).toEqual(new Set([422, 429]));
    for (const [path, body] of [
      ['refresh', { refresh_token: 'nonsense' }],
      ['accept-invitation', { token: 'nonsense', password: 'long enough a password' }],
      ['reset-password', { token: 'nonsense', password: 'long enough a password' }],
    ] as const) {
      const answers = await Promise.all(Array.from({ length: 65 }, () => post(path, body)));
      const refused = answers.filter(({ status }) => status === 429);
      // A minute may end meanwhile.
      expect(refused.length, path).toBeGreaterThanOrEqual(5);
      expect(answers.length - refused.length, path).toBeLessThanOrEqual(60);
      expect(refused[0]).toMatchObject({ body: { code: 'TOO_MANY_SIGN_IN_ATTEMPTS' } });
    }
    // From the same address, and not a guess.
    expect((await refresh(refresh_token)).status).toBe(200);
  });

  it('hashes a password anew when its parameters are of former times', async () => {
    const weak = await hash(user.password, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
    await panel.app.change('update users set password_hash = $2 where id = $1', [user.id, weak]);
    const hashNow = async () =>
      z
        .tuple([z.object({ password_hash: z.string() })])
        .parse((await panel.app.superuser.query('select password_hash from users where id = $1', [user.id])).rows)[0]
        .password_hash;
    expect((await panel.signIn(user.email, 'another password')).status).toBe(401);
    expect(await hashNow()).toBe(weak);
    const signedIn = await Promise.all([signIn(), signIn(), signIn()]);
    expect(await hashNow()).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    for (const { refresh_token } of signedIn) expect((await refresh(refresh_token)).status).toBe(200);
  });

  it('lets an api_user sign in, renew and sign out, but not use the panel', async () => {
    const tokens = tokensOf(await refresh((await signIn(tenant.users.api_user)).refresh_token));
    const api = { ...tenant.users.api_user, accessToken: tokens.access_token };
    for (const [method, path] of [
      ['GET', '/auth/me'],
      ['GET', '/auth/sign-ins'],
      ['GET', '/users'],
    ] as const) {
      expect(await panel.as(api, method, path), path).toMatchObject({
        status: 403,
        body: { code: 'INSUFFICIENT_ROLE' },
      });
    }
    const change = { current_password: api.password, new_password: 'another password' };
    expect(await post('change-password', change, api.accessToken)).toMatchObject({ status: 403 });
    expect(await post('logout', {}, api.accessToken)).toMatchObject({ status: 200 });
    await expectShutOut(api.accessToken);
  });

  it('keeps no token, and writes neither tokens nor addresses into logs', async () => {
    const before = await signIn();
    const { refresh_token, access_token } = tokensOf(await refresh(before.refresh_token));
    const { rows } = await panel.app.superuser.query(
      `select (select string_agg(s::text, ' ') from sign_ins s) || (select string_agg(t::text, ' ') from used_refresh_tokens t)
         || (select string_agg(a::text, ' ') from audit_log a) as everything`,
    );
    const kept = JSON.stringify(rows) + panel.app.log();
    expect(kept).toContain(user.id);
    for (const secret of [before.refresh_token, refresh_token, access_token, user.email, user.password]) {
      expect(kept).not.toContain(secret);
      expect(kept).not.toContain(Buffer.from(secret).toString('hex'));
    }
  });

  it('forgets sign-ins and the digests of their tokens, long after their end', async () => {
    const { workerPool } = panel.app.service.installation;
    const gone = tokensOf(await refresh((await signIn()).refresh_token));
    const kept = await signIn();
    await panel.app.superuser.query(
      `update sign_ins set lapses_at = now() - interval '8 days', expires_at = now() - interval '8 days' where id = $1`,
      [decodeJwt(gone.access_token).sid],
    );
    await pruneSignIns(workerPool);
    const { rows } = await panel.app.superuser.query(
      `select s.id, (select count(*)::int from used_refresh_tokens t where t.sign_in_id = $1) as used
         from sign_ins s where s.id = any($2)`,
      [decodeJwt(gone.access_token).sid, [decodeJwt(gone.access_token).sid, decodeJwt(kept.access_token).sid]],
    );
    expect(rows).toEqual([{ id: decodeJwt(kept.access_token).sid, used: 0 }]);
  });

  it('leaves no sign-in to a user who is disabled while signing in', async () => {
    const { owner } = tenant.users;
    for (let round = 0; round < 5; round += 1) {
      const [disabled] = await Promise.all([
        panel.as(owner, 'PATCH', `/users/${user.id}`, { is_disabled: true }),
        ...Array.from({ length: 6 }, () => panel.signIn(user.email, user.password)),
      ]);
      expect(disabled).toMatchObject({ status: 200 });
      expect(await lasting(user.id)).toBe(0);
      await panel.as(owner, 'PATCH', `/users/${user.id}`, { is_disabled: false });
      await panel.app.superuser.query('delete from rate_limit_windows');
    }
  });

  const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });
  const asBearer = (token: string): RequestInit => ({ method: 'POST', ...bearer(token) });
});
