import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { TokensResponse } from '../../schemas/api/auth.js';
import { CreatedTenant } from '../../schemas/api/panel/tenants.js';
import { ask } from '../http/running-app.js';
import { type PanelApp, startPanel } from './panel-fixture.js';

let panel: PanelApp;
beforeAll(async () => {
  panel = await startPanel();
}, 60_000);
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

it('looks for changes within any times, also those before every calendar', async () => {
  const within = (from: string, to: string) =>
    panel.as(panel.own.users.owner, 'GET', `/audit-log?from=${from}&to=${to}`);
  expect(await within('0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z')).toMatchObject({
    status: 200,
    body: { data: [] },
  });
  const all = await within('0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z');
  expect(all).toMatchObject({
    status: 200,
    body: { data: expect.arrayContaining([expect.objectContaining({ action: 'sign_in.start' })]) },
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
