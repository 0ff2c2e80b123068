import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { TokensResponse } from '../../../schemas/api/auth.js';
import { CreatedInvitation, Invitation } from '../../../schemas/api/panel/invitations.js';
import { pruneSignIns } from '../../../src/accounts/sign-in/sign-ins.js';
import { type Answer, ask } from '../server/running-app.js';
import { type PanelApp, type PanelTenant, type PanelUser, startPanel } from './panel-fixture.js';

const Created = z.object({ data: CreatedInvitation.extend({ token: z.string() }) });
const Page = z.object({ data: z.array(Invitation), next_cursor: z.string().nullable() });

describe('invitations', () => {
  let panel: PanelApp;
  let tenant: PanelTenant;
  let admin: PanelUser;
  beforeAll(async () => {
    panel = await startPanel();
  });
  beforeEach(async () => {
    await panel.app.superuser.query('delete from rate_limit_windows');
    tenant = await panel.makeTenant();
    admin = tenant.users.admin;
  });
  afterAll(() => panel.stop());

  const address = (): string => `new-${randomBytes(6).toString('hex')}@invited.example`;
  const invite = (email: string, role = 'viewer', by = admin): Promise<Answer> =>
    panel.as(by, 'POST', '/invitations', { email, role });
  const invited = async (email: string, role = 'viewer', by = admin) =>
    Created.parse((await invite(email, role, by)).body).data;
  const accept = (token: string, password = 'chosen by the invited'): Promise<Answer> =>
    ask(`${panel.app.url}/api/v1/auth/accept-invitation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, password }),
    });
  const stateOf = async (id: string): Promise<string> =>
    z.object({ data: Invitation }).parse((await panel.as(admin, 'GET', `/invitations/${id}`)).body).data.state;
  const invalid = { status: 422, body: { code: 'INVITATION_INVALID' } };

  it('makes a user of the tenant, signed in, with the role of the invitation', async () => {
    const email = address();
    const made = await invite(email.toUpperCase(), 'dpo', tenant.users.owner);
    expect(made.status).toBe(201);
    const { token, ...invitation } = Created.parse(made.body).data;
    expect(invitation).toMatchObject({ email, role: 'dpo', state: 'open', accepted_at: null, user_id: null });
    const days = (Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)) / 86_400_000;
    expect(days).toBe(7);
    const answer = await accept(token);
    expect(answer.status).toBe(201);
    const { user, access_token } = TokensResponse.parse(answer.body).data;
    expect(user).toMatchObject({ email, role: 'dpo', tenant_id: tenant.id });
    const self = { ...admin, accessToken: access_token };
    expect(await panel.as(self, 'GET', '/audit-log?action=invitation.accept')).toMatchObject({
      status: 200,
      body: { data: [{ actor: { user_id: user.id }, subject: { id: invitation.id }, details: { role: 'dpo' } }] },
    });
    expect((await panel.signIn(email, 'chosen by the invited')).status).toBe(200);
    expect(await panel.as(admin, 'GET', `/invitations/${invitation.id}`)).toMatchObject({
      body: { data: { state: 'accepted', user_id: user.id } },
    });
    expect(await accept(token)).toMatchObject(invalid);
  });

  it('is accepted once, however many try at once', async () => {
    const { token } = await invited(address(), 'api_user', tenant.users.owner);
    const answers = await Promise.all(Array.from({ length: 8 }, () => accept(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(422)]);
  });

  it('is worth nothing once it is revoked, replaced or expired', async () => {
    const email = address();
    const [first, second] = [await invited(email), await invited(email, 'admin')];
    expect(await stateOf(first.id)).toBe('revoked');
    expect(await accept(first.token)).toMatchObject(invalid);
    for (let i = 0; i < 2; i += 1) {
      expect(await panel.as(admin, 'DELETE', `/invitations/${second.id}`)).toMatchObject({
        status: 200,
        body: { data: { state: 'revoked' } },
      });
    }
    expect(await accept(second.token)).toMatchObject(invalid);
    const third = await invited(email);
    await panel.app.superuser.query('update invitations set expires_at = now() where id = $1', [third.id]);
    expect(await stateOf(third.id)).toBe('expired');
    expect(await accept(third.token)).toMatchObject(invalid);
    const fourth = await invited(email);
    expect(await accept(fourth.token, 'short')).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } });
    expect((await accept(fourth.token)).status).toBe(201);
    expect(await panel.as(admin, 'DELETE', `/invitations/${fourth.id}`)).toMatchObject({ status: 409 });
    expect(await accept(`cli_${'A'.repeat(43)}`)).toMatchObject(invalid);
  });

  it('leaves one of several made at once open', async () => {
    const email = address();
    const answers = await Promise.all(Array.from({ length: 6 }, () => invite(email)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    const { data } = Page.parse((await panel.as(admin, 'GET', '/invitations?state=open')).body);
    expect(data).toHaveLength(1);
  });

  it('reveals the existence of users of the same tenant only', async () => {
    expect(await invite(tenant.users.dpo.email)).toMatchObject({ status: 409, body: { code: 'ALREADY_EXISTS' } });
    const elsewhere = panel.foreign.users.owner.email;
    const [known, unknown] = [await invite(elsewhere), await invite(address())];
    expect(known.status).toBe(unknown.status);
    expect(Object.keys(Created.parse(known.body).data)).toEqual(Object.keys(Created.parse(unknown.body).data));
    // Accepting does not state the reason either: the answer is that of an unknown token.
    const told = await accept(Created.parse(known.body).data.token);
    expect(told.body).toEqual((await accept(`cli_${'B'.repeat(43)}`)).body);
    expect(told.status).toBe(422);
    expect((await panel.signIn(elsewhere, panel.foreign.users.owner.password)).status).toBe(200);
  });

  it.each(['owner', 'dpo', 'api_user'])('lets only owners invite, replace and revoke for the role %s', async (role) => {
    const { owner } = tenant.users;
    const refused = { status: 403, body: { code: 'INSUFFICIENT_ROLE' } };
    expect(await invite(address(), role)).toMatchObject(refused);
    const { id, email } = await invited(address(), role, owner);
    expect(await invite(email, 'viewer')).toMatchObject(refused);
    expect(await panel.as(admin, 'DELETE', `/invitations/${id}`)).toMatchObject(refused);
    expect(await stateOf(id)).toBe('open');
    expect(await panel.as(owner, 'DELETE', `/invitations/${id}`)).toMatchObject({ status: 200 });
    const expired = await invited(address(), role, owner);
    await panel.app.superuser.query('update invitations set expires_at = now() where id = $1', [expired.id]);
    expect(await invite(expired.email, 'viewer')).toMatchObject({ status: 201 });
  });

  it.each([{ role: 'viewer' }, { is_disabled: true }])(
    'is worth nothing while its inviter is changed to %o',
    async (changed) => {
      const { owner } = tenant.users;
      const { token } = await invited(address(), 'admin');
      const change = (body: object) => panel.as(owner, 'PATCH', `/users/${admin.id}`, body);
      expect(await change(changed)).toMatchObject({ status: 200 });
      expect(await accept(token)).toMatchObject(invalid);
      expect(await change({ role: 'admin', is_disabled: false })).toMatchObject({ status: 200 });
      expect(await accept(token)).toMatchObject({ status: 201 });
    },
  );

  it('takes an address, but not as the password too', async () => {
    const { token, email } = await invited(address());
    expect(await accept(token, email)).toMatchObject({ status: 422, body: { errors: [{ field: 'password' }] } });
    expect(await accept(token, `${' '.repeat(12)}\t`)).toMatchObject({ body: { errors: [{ field: 'password' }] } });
    expect(await accept(token)).toMatchObject({ status: 201 });
  });

  it('is for an address', async () => {
    expect(await invite('no address')).toMatchObject({ status: 422, body: { errors: [{ field: 'email' }] } });
  });

  it('is listed page by page, for its own tenant', async () => {
    const made = [];
    for (let i = 0; i < 3; i += 1) made.unshift((await invited(address())).id);
    const first = Page.parse((await panel.as(admin, 'GET', '/invitations?limit=2')).body);
    const rest = Page.parse((await panel.as(admin, 'GET', `/invitations?limit=2&cursor=${first.next_cursor}`)).body);
    expect(new Set([...first.data, ...rest.data].map(({ id }) => id))).toEqual(new Set(made));
    expect(rest.next_cursor).toBeNull();
    const stranger = panel.foreign.users.owner;
    for (const method of ['GET', 'DELETE']) {
      expect(await panel.as(stranger, method, `/invitations/${made[0]}`)).toMatchObject({
        status: 404,
        body: { code: 'RESOURCE_NOT_FOUND' },
      });
    }
    expect(Page.parse((await panel.as(stranger, 'GET', '/invitations')).body).data.map(({ id }) => id)).not.toContain(
      made[0],
    );
  });

  it('keeps neither tokens nor, in the audit log, addresses; and forgets invitations in the end', async () => {
    const { id, token, email } = await invited(address());
    const { superuser, service } = panel.app;
    const { rows } = await superuser.query(
      `select (select string_agg(a::text, ' ') from audit_log a) as log, (select string_agg(i::text, ' ') from invitations i) as invitations`,
    );
    const kept = z.tuple([z.object({ log: z.string(), invitations: z.string() })]).parse(rows)[0];
    expect(kept.log).toContain(id);
    expect(kept.log).not.toContain(email);
    expect(kept.invitations).toContain(email);
    expect(kept.invitations).not.toContain(token);
    await superuser.query(`update invitations set expires_at = now() - interval '91 days' where id = $1`, [id]);
    await pruneSignIns(service.installation.workerPool);
    expect(await panel.as(admin, 'GET', `/invitations/${id}`)).toMatchObject({ status: 404 });
  });
});
