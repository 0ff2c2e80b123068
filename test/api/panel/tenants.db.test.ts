import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { TokensResponse } from '../../../schemas/api/auth.js';
import { CreatedTenant } from '../../../schemas/api/panel/tenants.js';
import { createTenant } from '../../../src/tenancy/tenants/tenants.js';
import { ask } from '../server/running-app.js';
import { type PanelApp, type PanelUser, startPanel } from './panel-fixture.js';

let panel: PanelApp;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.stop());

it('shows a user the tenant that it belongs to, and no other', async () => {
  const { own, foreign } = panel;
  const listed = await panel.as(own.users.viewer, 'GET', '/tenants');
  expect(listed).toMatchObject({ status: 200, body: { data: [{ id: own.id }], next_cursor: null } });
  expect(await panel.as(own.users.viewer, 'GET', `/tenants/${foreign.id}`)).toMatchObject({
    status: 404,
    body: { code: 'RESOURCE_NOT_FOUND' },
  });
});

it('changes a name, and says so in the audit log', async () => {
  const { owner } = panel.own.users;
  const path = `/tenants/${panel.own.id}`;
  const changed = await panel.as(owner, 'PATCH', path, { name: ' New name ' });
  expect(changed).toMatchObject({ status: 200, body: { data: { id: panel.own.id, name: 'New name' } } });
  expect(await panel.as(owner, 'GET', path)).toMatchObject({ body: { data: { name: 'New name' } } });
  for (const body of [{}, { name: '' }, { name: 'x', id: panel.foreign.id }]) {
    expect(await panel.as(owner, 'PATCH', path, body)).toMatchObject({
      status: 422,
      body: { code: 'VALIDATION_ERROR' },
    });
  }
  const log = await panel.as(owner, 'GET', '/audit-log?action=tenant.change');
  expect(log.body).toMatchObject({
    data: [
      {
        action: 'tenant.change',
        actor: { kind: 'user', user_id: owner.id },
        subject: { kind: 'tenant', id: panel.own.id },
        details: { changed: ['name'] },
      },
    ],
    next_cursor: null,
  });
  expect((await panel.as(panel.foreign.users.owner, 'GET', '/audit-log?action=tenant.change')).body).toMatchObject({
    data: [],
  });
});

it('looks for changes within any times that the database can hold', async () => {
  const within = (from: string, to: string) =>
    panel.as(panel.own.users.owner, 'GET', `/audit-log?from=${from}&to=${to}`);
  expect(await within('0001-01-01T00:00:00Z', '0001-01-02T00:00:00Z')).toMatchObject({
    status: 200,
    body: { data: [] },
  });
  const all = await within('0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z');
  expect(all).toMatchObject({
    status: 200,
    body: { data: expect.arrayContaining([expect.objectContaining({ action: 'sign_in.start' })]) },
  });
  expect(await within('0000-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59')).toMatchObject({
    status: 422,
    body: { errors: [{ field: 'from' }, { field: 'to' }] },
  });
});

it('makes another tenant, which has nothing to do with the one that made it', async () => {
  const { owner, admin } = panel.foreign.users;
  const made = await panel.as(owner, 'POST', '/tenants', { name: 'Daughter', owner_email: 'Boss@daughter.example' });
  expect(made.status).toBe(201);
  const { data } = z.object({ data: CreatedTenant }).parse(made.body);
  expect(data.owner_invitation).toMatchObject({ role: 'owner', email: 'boss@daughter.example', state: 'open' });
  expect(await panel.as(owner, 'GET', `/tenants/${data.id}`)).toMatchObject({ status: 404 });
  expect(await panel.as(admin, 'POST', '/tenants', { name: 'x', owner_email: 'x@x.example' })).toMatchObject({
    status: 403,
  });
  const accepted = await ask(`${panel.app.url}/api/v1/auth/accept-invitation`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: data.owner_invitation.token, password: 'correct horse battery staple' }),
  });
  const tokens = TokensResponse.parse(accepted.body).data;
  expect(tokens.user).toMatchObject({ tenant_id: data.id, role: 'owner' });
  const asBoss = (path: string) =>
    ask(`${panel.app.url}/api/v1${path}`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
  expect(await asBoss('/subscription')).toMatchObject({ body: { data: { name: 'none', is_active: false } } });
  expect(await asBoss('/sites')).toMatchObject({ body: { data: [] } });
});

it('makes ten tenants a day at most, also at once', async () => {
  const { users } = await panel.makeTenant();
  const answers = await Promise.all(
    Array.from({ length: 13 }, (_, index) =>
      panel.as(users.owner, 'POST', '/tenants', { name: `T${index}`, owner_email: `o${index}@x.example` }),
    ),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(3);
});

it('counts with a tenant all that descend from it', async () => {
  const { adminPool } = panel.app.service.installation;
  const { id, users } = await panel.makeTenant();
  const { id: daughter } = await createTenant(adminPool, 'Daughter', null, id);
  const granddaughter = await panel.makeTenant();
  await panel.app.superuser.query('update tenants set made_by_tenant = $2 where id = $1', [granddaughter.id, daughter]);
  const made = async (owner: PanelUser, name: string) =>
    (await panel.as(owner, 'POST', '/tenants', { name, owner_email: 'o@x.example' })).status;
  const owners = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? users : granddaughter.users).owner);
  const statuses = await Promise.all(owners.map((owner, index) => made(owner, `T${index}`)));
  expect(statuses.filter((status) => status === 201)).toHaveLength(8);
  expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  // Other users can still create a tenant.
  expect(await made((await panel.makeTenant()).users.owner, 'T')).toBe(201);
  await panel.app.superuser.query(
    "update tenants set created_at = now() - interval '25 hours' where made_by_tenant is not null",
  );
  expect(await made(granddaughter.users.owner, 'T')).toBe(201);
});

it('gives no name that reads otherwise than it stands', async () => {
  for (const name of ['a\u202eb', 'a\u2067b', 'a\nb', 'a\u001b[31mb', 'a\u0085b', 'a\u2028b', ' ']) {
    const renamed = await panel.as(panel.own.users.owner, 'PATCH', `/tenants/${panel.own.id}`, { name });
    expect(renamed).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } });
    const key = await panel.as(panel.own.users.owner, 'POST', `/sites/${panel.own.siteId}/api-keys`, {
      scope: 'read',
      name: `${name}x`,
    });
    expect(key.status).toBe(name === ' ' ? 201 : 422);
    await expect(createTenant(panel.app.service.installation.adminPool, name, null)).rejects.toThrow('name: must');
  }
  const right = 'مرحبا \u200fשלום 🙂';
  const renamed = await panel.as(panel.own.users.owner, 'PATCH', `/tenants/${panel.own.id}`, { name: right });
  expect(renamed).toMatchObject({ status: 200, body: { data: { name: right } } });
});
