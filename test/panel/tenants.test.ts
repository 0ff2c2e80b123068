import { afterAll, beforeAll, expect, it } from 'vitest';
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
