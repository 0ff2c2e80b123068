import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PanelUser as ListedUser, PasswordReset } from '../../../schemas/api/panel/users.js';
import { type Answer, ask } from '../server/running-app.js';
import { type PanelApp, type PanelTenant, type PanelUser, startPanel } from './panel-fixture.js';

const Page = z.object({ data: z.array(ListedUser), next_cursor: z.string().nullable() });
const Lines = z.object({ data: z.array(z.looseObject({ details: z.looseObject({}) })) });

describe('users', () => {
  let panel: PanelApp;
  let tenant: PanelTenant;
  beforeAll(async () => {
    panel = await startPanel();
  });
  beforeEach(async () => {
    await panel.app.superuser.query('delete from rate_limit_windows');
    tenant = await panel.makeTenant();
  });
  afterAll(() => panel.stop());

  const change = (by: PanelUser, target: PanelUser, body: object): Promise<Answer> =>
    panel.as(by, 'PATCH', `/users/${target.id}`, body);
  const expectRefused = (answer: Answer): void =>
    expect(answer).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_ROLE' } });
  /** A role holds within a second. */
  const expectRole = (user: PanelUser, role: string): Promise<void> =>
    expect.poll(async () => (await panel.as(user, 'GET', '/auth/me')).body).toMatchObject({ data: { role } });
  const reset = async (by: PanelUser, target: PanelUser) =>
    PasswordReset.extend({ token: z.string() }).parse(
      z.object({ data: z.unknown() }).parse((await panel.as(by, 'POST', `/users/${target.id}/password-reset`)).body)
        .data,
    );
  const useReset = (token: string, password: string): Promise<Answer> =>
    ask(`${panel.app.url}/api/v1/auth/reset-password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, password }),
    });

  it('lists the tenant’s own users page by page, by role and state', async () => {
    const { owner, viewer } = tenant.users;
    const all = Page.parse((await panel.as(owner, 'GET', '/users')).body);
    expect(new Set(all.data.map(({ id }) => id))).toEqual(new Set(Object.values(tenant.users).map(({ id }) => id)));
    expect(all.data.every(({ last_sign_in_at, is_disabled }) => last_sign_in_at !== null && !is_disabled)).toBe(true);
    const paged = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const path: string = `/users?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page = Page.parse((await panel.as(owner, 'GET', path)).body);
      paged.push(...page.data);
      cursor = page.next_cursor;
    }
    expect(paged).toEqual(all.data);
    await change(owner, viewer, { is_disabled: true });
    const idsOf = async (query: string) =>
      Page.parse((await panel.as(owner, 'GET', `/users?${query}`)).body).data.map(({ id }) => id);
    expect(await idsOf('state=disabled')).toEqual([viewer.id]);
    expect(await idsOf('role=viewer&state=active')).toEqual([]);
    expect(await idsOf('role=dpo')).toEqual([tenant.users.dpo.id]);
    expect(await panel.as(owner, 'GET', '/users?role=king')).toMatchObject({ status: 422 });
    const forged = Buffer.from(JSON.stringify(['yesterday', owner.id])).toString('base64url');
    expect(await panel.as(owner, 'GET', `/users?cursor=${forged}`)).toMatchObject({ status: 422 });
  });

  it('knows no user of another tenant', async () => {
    const { owner } = tenant.users;
    const stranger = panel.foreign.users.viewer;
    const missing = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } };
    expect(await panel.as(owner, 'GET', `/users/${stranger.id}`)).toMatchObject(missing);
    expect(await change(owner, stranger, { role: 'admin' })).toMatchObject(missing);
    expect(await panel.as(owner, 'POST', `/users/${stranger.id}/password-reset`)).toMatchObject(missing);
    expect(await panel.as(owner, 'DELETE', `/users/${stranger.id}/sign-ins`)).toMatchObject(missing);
    expect(await panel.as(stranger, 'GET', '/auth/me')).toMatchObject({
      status: 200,
      body: { data: { role: 'viewer' } },
    });
  });

  it('changes a role within a second, and says so in the audit log without an address', async () => {
    const { owner, viewer } = tenant.users;
    expect(await panel.as(viewer, 'GET', '/users')).toMatchObject({ status: 403 });
    expect(await change(owner, viewer, { role: 'dpo' })).toMatchObject({
      status: 200,
      body: { data: { role: 'dpo' } },
    });
    await expect.poll(async () => (await panel.as(viewer, 'GET', '/users')).status).toBe(200);
    const { body } = await panel.as(viewer, 'GET', `/audit-log?subject_id=${viewer.id}`);
    expect(Lines.parse(body).data).toMatchObject([
      {
        action: 'user.change',
        actor: { user_id: owner.id },
        details: { role: { before: 'viewer', after: 'dpo' }, ended_sign_ins: 0 },
      },
    ]);
    expect(JSON.stringify(body)).not.toContain('@');
    expect(await change(owner, viewer, {})).toMatchObject({ status: 422 });
    expect(await change(owner, viewer, { role: 'king' })).toMatchObject({ status: 422 });
  });

  it('lets only owners manage owners, and refuses users more rights for themselves', async () => {
    const { owner, admin, viewer } = tenant.users;
    expectRefused(await change(admin, viewer, { role: 'owner' }));
    expectRefused(await change(admin, owner, { role: 'viewer' }));
    expectRefused(await change(admin, owner, { is_disabled: true }));
    expectRefused(await panel.as(admin, 'POST', `/users/${owner.id}/password-reset`));
    expectRefused(await panel.as(admin, 'DELETE', `/users/${owner.id}/sign-ins`));
    expectRefused(await change(admin, admin, { role: 'owner' }));
    expectRefused(await change(admin, admin, { role: 'dpo' }));
    expectRefused(await change(viewer, viewer, { role: 'owner' }));
    expect(await panel.as(owner, 'GET', `/users/${owner.id}`)).toMatchObject({ body: { data: { role: 'owner' } } });
    expect(await change(owner, admin, { role: 'owner' })).toMatchObject({ status: 200 });
    await expectRole(admin, 'owner');
    expect(await change(admin, admin, { role: 'viewer' })).toMatchObject({ status: 200 });
  });

  it('leaves what leads to personal data to owners: DPOs and API users are not for admins', async () => {
    const { owner, admin, viewer, dpo, api_user } = tenant.users;
    for (const target of [owner, dpo, api_user]) {
      expectRefused(await change(admin, target, { role: 'viewer' }));
      expectRefused(await change(admin, target, { is_disabled: true }));
      expectRefused(await panel.as(admin, 'POST', `/users/${target.id}/password-reset`));
      expectRefused(await panel.as(admin, 'DELETE', `/users/${target.id}/sign-ins`));
    }
    for (const role of ['owner', 'dpo', 'api_user']) expectRefused(await change(admin, viewer, { role }));
    expect(await change(admin, viewer, { role: 'admin' })).toMatchObject({ status: 200 });
    for (const target of [dpo, api_user]) {
      expect(await panel.as(owner, 'POST', `/users/${target.id}/password-reset`)).toMatchObject({ status: 201 });
      expect(await panel.as(owner, 'DELETE', `/users/${target.id}/sign-ins`)).toMatchObject({ status: 200 });
      expect(await change(owner, target, { role: 'viewer' })).toMatchObject({ status: 200 });
    }
  });

  it('keeps the last active owner', async () => {
    const { owner, admin } = tenant.users;
    for (const body of [{ is_disabled: true }, { role: 'admin' }, { role: 'viewer', is_disabled: true }]) {
      expect(await change(owner, owner, body)).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    }
    await change(owner, admin, { role: 'owner' });
    await change(owner, admin, { is_disabled: true });
    // A disabled owner is none to fall back on.
    expect(await change(owner, owner, { role: 'admin' })).toMatchObject({ status: 409 });
  });

  it('keeps an owner when all owners step down at once', async () => {
    const { owner, admin, dpo, viewer } = tenant.users;
    const owners = [owner, admin, dpo, viewer];
    for (const one of owners.slice(1)) await change(owner, one, { role: 'owner' });
    for (const one of owners) await expectRole(one, 'owner');
    const answers = await Promise.all(
      owners.map((one, i) => change(one, one, i % 2 === 0 ? { role: 'viewer' } : { is_disabled: true })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409]);
    const { rowCount } = await panel.app.superuser.query(
      `select from users where tenant_id = $1 and role = 'owner' and disabled_at is null`,
      [tenant.id],
    );
    expect(rowCount).toBe(1);
  });

  it('shuts a disabled user out, whose sign-ins stay over when the user is enabled again', async () => {
    const { owner, viewer } = tenant.users;
    expect(await change(owner, viewer, { is_disabled: true })).toMatchObject({
      body: { data: { is_disabled: true, disabled_at: expect.any(String) } },
    });
    const renew = () =>
      ask(`${panel.app.url}/api/v1/auth/refresh`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ refresh_token: viewer.refreshToken }),
      });
    expect((await renew()).status).toBe(401);
    await expect.poll(async () => (await panel.as(viewer, 'GET', '/auth/me')).status).toBe(401);
    expect(await panel.signIn(viewer.email, viewer.password)).toMatchObject({
      status: 401,
      body: { code: 'INVALID_CREDENTIALS' },
    });
    expect(await panel.as(owner, 'POST', `/users/${viewer.id}/password-reset`)).toMatchObject({ status: 409 });
    expect(await change(owner, viewer, { is_disabled: false })).toMatchObject({
      body: { data: { is_disabled: false, disabled_at: null } },
    });
    expect((await renew()).status).toBe(401);
    expect((await panel.as(viewer, 'GET', '/auth/me')).status).toBe(401);
    expect((await panel.signIn(viewer.email, viewer.password)).status).toBe(200);
  });

  it('ends the sign-ins of a user', async () => {
    const { admin, viewer } = tenant.users;
    await panel.signIn(viewer.email, viewer.password);
    expect(await panel.as(admin, 'DELETE', `/users/${viewer.id}/sign-ins`)).toMatchObject({
      status: 200,
      body: { data: { ended_sign_ins: 2 } },
    });
    await expect.poll(async () => (await panel.as(viewer, 'GET', '/auth/me')).status).toBe(401);
    expect((await panel.signIn(viewer.email, viewer.password)).status).toBe(200);
  });

  it('resets a password once, within its time, and ends the sign-ins of its user', async () => {
    const { admin, viewer } = tenant.users;
    const [first, second] = [await reset(admin, viewer), await reset(admin, viewer)];
    const invalid = { status: 422, body: { code: 'PASSWORD_RESET_INVALID' } };
    expect(await useReset(first.token, 'a new password!')).toMatchObject(invalid);
    expect(await useReset(second.token, 'short')).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } });
    expect((await panel.as(viewer, 'GET', '/auth/me')).status).toBe(200);
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, i) => useReset(second.token, `a new password ${i}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422, 422]);
    await expect.poll(async () => (await panel.as(viewer, 'GET', '/auth/me')).status).toBe(401);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect((await panel.signIn(viewer.email, viewer.password)).status).toBe(401);
    expect((await panel.signIn(viewer.email, `a new password ${winner}`)).status).toBe(200);

    const late = await reset(admin, viewer);
    await panel.app.superuser.query('update password_resets set expires_at = now() where user_id = $1', [viewer.id]);
    expect(await useReset(late.token, 'a new password!')).toMatchObject(invalid);
    const { rows } = await panel.app.superuser.query('select p::text as line from password_resets p');
    for (const { token } of [first, second, late]) expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('voids a reset when its user changes the password', async () => {
    const { owner, viewer } = tenant.users;
    const { token } = await reset(owner, viewer);
    const changed = await panel.as(viewer, 'POST', '/auth/change-password', {
      current_password: viewer.password,
      new_password: 'chosen by the user',
    });
    expect(changed.status).toBe(200);
    expect(await useReset(token, 'a new password!')).toMatchObject({ status: 422 });
    expect((await panel.signIn(viewer.email, 'chosen by the user')).status).toBe(200);
  });

  it('voids a reset when the role or the state of its user changes', async () => {
    const { owner, admin, viewer } = tenant.users;
    const invalid = { status: 422, body: { code: 'PASSWORD_RESET_INVALID' } };
    const beforePromotion = await reset(admin, viewer);
    expect(await change(owner, viewer, { role: 'owner' })).toMatchObject({ status: 200 });
    expect(await useReset(beforePromotion.token, 'a new password!')).toMatchObject(invalid);
    expect(await change(owner, viewer, { role: 'viewer' })).toMatchObject({ status: 200 });
    expect(await useReset(beforePromotion.token, 'a new password!')).toMatchObject(invalid);
    const beforeDisabling = await reset(admin, viewer);
    for (const is_disabled of [true, false]) await change(owner, viewer, { is_disabled });
    expect(await useReset(beforeDisabling.token, 'a new password!')).toMatchObject(invalid);
    expect((await panel.signIn(viewer.email, viewer.password)).status).toBe(200);
  });

  it.each([{ role: 'viewer' }, { is_disabled: true }])(
    'takes no reset by an admin who was changed to %o since',
    async (changed) => {
      const { owner, admin, viewer } = tenant.users;
      const { token } = await reset(admin, viewer);
      expect(await change(owner, admin, changed)).toMatchObject({ status: 200 });
      expect(await useReset(token, 'a new password!')).toMatchObject({ body: { code: 'PASSWORD_RESET_INVALID' } });
      await change(owner, admin, { role: 'admin', is_disabled: false });
      expect(await useReset(token, 'a new password!')).toMatchObject({ status: 200 });
    },
  );

  it('refuses users a reset of their own password', async () => {
    const { owner, admin } = tenant.users;
    for (const self of [owner, admin]) {
      expectRefused(await panel.as(self, 'POST', `/users/${self.id}/password-reset`));
    }
    const { rowCount } = await panel.app.superuser.query('select from password_resets where user_id = any($1)', [
      [owner.id, admin.id],
    ]);
    expect(rowCount).toBe(0);
  });

  it('takes no password that is the address of its user', async () => {
    const { owner, viewer } = tenant.users;
    const { token } = await reset(owner, viewer);
    const email = viewer.email.toUpperCase();
    expect(await useReset(token, email)).toMatchObject({ status: 422, body: { errors: [{ field: 'password' }] } });
    expect(
      await panel.as(viewer, 'POST', '/auth/change-password', {
        current_password: viewer.password,
        new_password: email,
      }),
    ).toMatchObject({ status: 422, body: { errors: [{ field: 'new_password' }] } });
    expect(await useReset(token, 'qwertyuiop123')).toMatchObject({ body: { errors: [{ field: 'password' }] } });
    expect(await useReset(token, 'a new password!')).toMatchObject({ status: 200 });
  });

  it('lets two owners who disable each other at once do it one after the other', async () => {
    const { owner, admin } = tenant.users;
    await change(owner, admin, { role: 'owner' });
    await expectRole(admin, 'owner');
    const answers = await Promise.all([
      change(owner, admin, { is_disabled: true }),
      change(admin, owner, { is_disabled: true }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  });
});
