import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeSubscription } from '../../../src/tenancy/tenants/tenants.js';
import { type PanelApp, startPanel } from './panel-fixture.js';

let panel: PanelApp;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.stop());

it('lists the plans', async () => {
  const first = await panel.as(panel.own.users.viewer, 'GET', '/plans?limit=2');
  expect(first.body).toMatchObject({
    data: [{ name: 'standard', rate_limit_per_minute: 120 }, { name: 'business' }],
    next_cursor: expect.any(String),
  });
});

it('returns the quota left in this month, and the usage before', async () => {
  const { viewer } = panel.own.users;
  await panel.app.superuser.query(
    `insert into consent_usage (tenant_id, month, used) values
       ($1, date_trunc('month', now() at time zone 'UTC')::date, 40), ($1, '2026-01-01', 7), ($1, '2026-02-01', 8),
       ($2, '2026-03-01', 9)`,
    [panel.own.id, panel.foreign.id],
  );
  expect((await panel.as(viewer, 'GET', '/subscription')).body).toMatchObject({
    data: {
      name: 'standard',
      is_active: true,
      consent_quota: 1_000_000,
      used_this_month: 40,
      left_this_month: 999_960,
    },
  });
  expect((await panel.as(viewer, 'GET', '/usage')).body).toMatchObject({
    data: [{ consents: 40 }, { month: '2026-02-01', consents: 8 }, { month: '2026-01-01', consents: 7 }],
    next_cursor: null,
  });
  await changeSubscription(panel.app.service.installation.adminPool, panel.own.id, null);
  expect((await panel.as(viewer, 'GET', '/subscription')).body).toMatchObject({ data: { is_active: false } });
});
