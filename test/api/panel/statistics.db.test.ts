import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AlarmsResponse,
  ConsentBreakdownResponse,
  ConsentStatisticsResponse,
} from '../../../schemas/api/panel/statistics.js';
import { lastMonth } from '../../../src/api/panel/breakdown.js';
import { periodOf } from '../../../src/api/panel/statistics.js';
import { createSite } from '../../../src/tenancy/sites/sites.js';
import { changeSubscription } from '../../../src/tenancy/tenants/tenants.js';
import { until } from '../../support/wait.js';
import { type PanelApp, type PanelTenant, startPanel } from './panel-fixture.js';
import { RecordingTenant } from './recording-tenant.js';

let panel: PanelApp;
beforeAll(async () => {
  panel = await startPanel('api', {
    SEAL_WITHIN_SECONDS: '1',
    STAMP_WITHIN_SECONDS: '1',
  });
});
afterAll(() => panel.stop());

describe('the statistics of consents', () => {
  const read = async (tenant: PanelTenant, query: string) => {
    const answer = await panel.as(tenant.users.viewer, 'GET', `/statistics/consents${query}`);
    return { ...answer, data: ConsentStatisticsResponse.safeParse(answer.body).data?.data };
  };
  let own: PanelTenant;
  let secondSite: string;
  beforeAll(async () => {
    own = await panel.makeTenant();
    const { id } = await createSite(panel.app.service.installation.adminPool, {
      tenantId: own.id,
      name: 'Second',
      domain: 'second.example',
      isVerified: true,
      allowedOrigins: [],
      allowedIps: [],
    });
    secondSite = id;
    await panel.app.superuser.query(
      `insert into read_model.daily_counts (site_id, day, consent_type, decision, consents, imported) values
         ($1, '2026-03-01', 'cookie', 'accepted', 6, 0), ($1, '2026-03-01', 'cookie', 'rejected', 2, 0),
         ($1, '2026-03-03', 'cookie', 'partial', 1, 4), ($1, '2026-03-03', 'cookie', 'withdrawn', 5, 0),
         ($1, '2026-03-03', 'document_approval', 'accepted', 1, 0), ($2, '2026-03-03', 'cookie', 'accepted', 10, 0),
         ($1, '2026-03-04', 'cookie', 'accepted', 99, 0), ($3, '2026-03-01', 'cookie', 'accepted', 1000, 0)`,
      [own.siteId, secondSite, panel.foreign.siteId],
    );
  });

  it('count each day of the period by decision, with the rate of acceptance', async () => {
    const { data } = await read(own, `?site_id=${own.siteId}&from=2026-03-01&to=2026-03-03`);
    const none = { accepted: 0, partial: 0, rejected: 0, withdrawn: 0, total: 0 };
    expect(data).toEqual({
      from: '2026-03-01',
      to: '2026-03-03',
      time_zone: 'UTC',
      days: [
        { day: '2026-03-01', ...none, accepted: 6, rejected: 2, total: 8 },
        { day: '2026-03-02', ...none },
        { day: '2026-03-03', ...none, accepted: 1, partial: 1, withdrawn: 5, total: 7 },
      ],
      totals: { accepted: 7, partial: 1, rejected: 2, withdrawn: 5, total: 15 },
      imported: 4,
      opt_outs: 0,
      objections: 0,
      acceptance_rate: 0.7,
      sites: [{ site_id: own.siteId, total: 15, idempotency_conflicts: 0 }],
    });
  });

  it('count opt-outs and objections apart, because they answer no question', async () => {
    await panel.app.superuser.query(
      `insert into read_model.daily_counts (site_id, day, consent_type, decision, consents, imported) values
         ($1, '2026-02-01', 'cookie', 'accepted', 3, 0), ($1, '2026-02-01', 'cookie', 'rejected', 1, 0),
         ($1, '2026-02-01', 'do_not_sell_opt_out', 'accepted', 96, 0), ($1, '2026-02-01', 'objection', 'rejected', 7, 0),
         ($1, '2026-02-01', 'objection', 'withdrawn', 2, 0)`,
      [own.siteId],
    );
    const { data } = await read(own, `?site_id=${own.siteId}&from=2026-02-01&to=2026-02-01`);
    expect(data).toMatchObject({
      totals: { accepted: 3, rejected: 1, withdrawn: 0, total: 4 },
      acceptance_rate: 0.75,
      opt_outs: 96,
      objections: 9,
      sites: [{ total: 4 }],
    });
    const period = `?site_id=${own.siteId}&from=2026-02-01&to=2026-02-01`;
    const objections = await read(own, `${period}&consent_type=objection`);
    expect(objections.data).toMatchObject({
      totals: { rejected: 7, withdrawn: 2, total: 9 },
      acceptance_rate: null,
      objections: 9,
      opt_outs: 0,
    });
  });

  it('are compressed, and no other response of the panel is', async () => {
    const ask = (path: string, coding: string) =>
      fetch(`${panel.app.url}/api/v1${path}`, {
        headers: { authorization: `Bearer ${own.users.viewer.accessToken}`, 'accept-encoding': coding },
      });
    const period = '/statistics/consents?from=2026-01-01&to=2026-04-02';
    const [plain, compressed] = [await ask(period, 'identity'), await ask(period, 'gzip')];
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(compressed.headers.get('cache-control')).toBe(plain.headers.get('cache-control'));
    const length = Number(compressed.headers.get('content-length'));
    expect(length).toBeGreaterThan(0);
    const text = await plain.text();
    expect(length).toBeLessThan(text.length / 5);
    expect(await compressed.text()).toBe(text);
    const sites = await ask('/sites', 'gzip');
    expect([sites.status, sites.headers.get('content-encoding')]).toEqual([200, null]);
  });

  it('count all sites of the tenant, and one type of consents', async () => {
    const all = await read(own, '?from=2026-03-01&to=2026-03-03');
    expect(all.data?.totals.accepted).toBe(17);
    expect(new Set(all.data?.sites.map(({ site_id, total }) => `${site_id} ${total}`))).toEqual(
      new Set([`${own.siteId} 15`, `${secondSite} 10`]),
    );
    const approvals = await read(own, '?from=2026-03-01&to=2026-03-03&consent_type=document_approval');
    expect(approvals.data?.totals).toMatchObject({ accepted: 1, total: 1 });
  });

  it('have no rate where no decision was made, and thirty days up to today unless asked otherwise', async () => {
    const { data } = await read(await panel.makeTenant(), '');
    expect([data?.acceptance_rate, data?.days.length, data?.totals.total]).toEqual([null, 30, 0]);
  });

  it.each([
    ['?from=2026-03-02&to=2026-03-01', 'to'],
    ['?from=2026-01-01&to=2026-04-03', 'to'],
    ['?from=yesterday', 'from'],
    ['?zone=Europe/Istanbul', 'zone'],
  ])('are refused for %s', async (query, field) => {
    const refused = { status: 422, body: { code: 'VALIDATION_ERROR', errors: [{ field }] } };
    expect(await read(own, query)).toMatchObject(refused);
  });

  it('are refused for a site of another tenant, and for one whose row was altered', async () => {
    const missing = { status: 404, body: { code: 'SITE_NOT_FOUND' } };
    expect(await read(own, `?site_id=${panel.foreign.siteId}`)).toMatchObject(missing);
    await panel.app.superuser.query('update sites set tenant_id = $1 where id = $2', [own.id, panel.foreign.siteId]);
    expect(await read(own, `?site_id=${panel.foreign.siteId}`)).toMatchObject(missing);
    expect((await read(own, '?from=2026-03-01&to=2026-03-03')).data?.totals.accepted).toBe(17);
    await panel.app.superuser.query('update sites set tenant_id = $1 where id = $2', [
      panel.foreign.id,
      panel.foreign.siteId,
    ]);
  });

  it('have at most 92 days, and begin in the year 1', () => {
    const now = new Date('2026-11-22T23:59:59Z');
    expect(periodOf({ from: '2026-01-01', to: '2026-04-02' }, now)).toEqual({ from: '2026-01-01', to: '2026-04-02' });
    expect(() => periodOf({ from: '2026-01-01', to: '2026-04-03' }, now)).toThrow();
    expect(periodOf({}, now)).toEqual({ from: '2026-10-24', to: '2026-11-22' });
    expect(periodOf({ to: '0001-01-02' }, now)).toEqual({ from: '0001-01-01', to: '0001-01-02' });
  });
});

describe('the decisions of a month', () => {
  let own: PanelTenant;
  const breakdown = async (query: string, site = own.siteId) => {
    const answer = await panel.as(own.users.viewer, 'GET', `/sites/${site}/statistics?${query}`);
    return { ...answer, data: ConsentBreakdownResponse.safeParse(answer.body).data?.data };
  };
  beforeAll(async () => {
    own = await panel.makeTenant();
    await panel.app.superuser.query(
      `insert into read_model.monthly_counts (site_id, month, property, value, decision, consents) values
         ($1, '2026-03-01', 'language', 'de', 'accepted', 300), ($1, '2026-03-01', 'language', 'de', 'partial', 20),
         ($1, '2026-03-01', 'language', 'de', 'rejected', 80), ($1, '2026-03-01', 'language', 'tr', 'accepted', 120),
         ($1, '2026-03-01', 'language', 'tr', 'rejected', 50), ($1, '2026-03-01', 'language', 'tr', 'partial', 30),
         ($1, '2026-03-01', 'language', 'fr', 'accepted', 4), ($1, '2026-03-01', 'language', 'fr', 'rejected', 30),
         ($1, '2026-03-01', 'language', 'fr', 'partial', 10), ($1, '2026-02-01', 'language', 'de', 'accepted', 99),
         ($1, '2026-03-01', 'category', 'analytics', 'accepted', 391), ($1, '2026-03-01', 'category', 'analytics', 'rejected', 9),
         ($1, '2026-03-01', 'type', 'do_not_sell_opt_out', 'accepted', 40), ($1, '2026-03-01', 'version', 'gone', 'accepted', 40),
         ($2, '2026-03-01', 'language', 'de', 'accepted', 1000)`,
      [own.siteId, panel.foreign.siteId],
    );
  });

  it('are counted by a property, without what could be calculated', async () => {
    const few = 'fewer_than_10';
    const hidden = { accepted: 'not_shown', partial: 30, rejected: 50, withdrawn: few, acceptance_rate: null };
    expect((await breakdown('by=language&month=2026-03')).data).toEqual({
      month: '2026-03',
      by: 'language',
      rows: [
        { value: 'de', accepted: 300, partial: 20, rejected: 80, withdrawn: few, acceptance_rate: 0.75 },
        { value: 'fr', accepted: few, partial: 10, rejected: 30, withdrawn: few, acceptance_rate: null },
        { value: 'tr', ...hidden },
      ],
    });
  });

  it('are counted by category as accepted or rejected, where each row has a known sum', async () => {
    const none = { partial: null, withdrawn: null, acceptance_rate: null };
    expect((await breakdown('by=category&month=2026-03')).data?.rows).toEqual([
      { value: 'analytics', accepted: 'not_shown', rejected: 'fewer_than_10', ...none },
    ]);
  });

  it('are those of the last month by type, unless the query says otherwise', async () => {
    expect((await breakdown('')).data).toMatchObject({ by: 'type', month: lastMonth(new Date()) });
    expect(lastMonth(new Date('2026-01-31T23:59:59Z'))).toBe('2025-12');
  });

  it('have no rate of opt-outs, and name a version that is not known by its hash', async () => {
    expect((await breakdown('by=type&month=2026-03')).data?.rows[0]).toMatchObject({
      value: 'do_not_sell_opt_out',
      acceptance_rate: null,
    });
    expect((await breakdown('by=version&month=2026-03')).data?.rows[0]).toMatchObject({ value: 'gone' });
  });

  it.each([
    ['by=language&month=2026-13', 'month'],
    ['by=language&month=9998-12', 'month'],
    [`by=language&month=${new Date().toISOString().slice(0, 7)}`, 'month'],
    ['by=country&month=2026-03', 'by'],
  ])('are refused for %s', async (query, field) => {
    expect(await breakdown(query)).toMatchObject({ status: 422, body: { errors: [{ field }] } });
  });

  it('are refused for a site of another tenant', async () => {
    const missing = { status: 404, body: { code: 'SITE_NOT_FOUND' } };
    expect(await breakdown('by=language&month=2026-03', panel.foreign.siteId)).toMatchObject(missing);
  });
});

describe('the alarms', () => {
  const alarms = async (tenant: PanelTenant) =>
    AlarmsResponse.parse((await panel.as(tenant.users.viewer, 'GET', '/alarms')).body).data;

  it('are none where all is well, and show nothing of other tenants', async () => {
    const [own, other] = [await panel.makeTenant(), await panel.makeTenant()];
    expect(await alarms(own)).toEqual([]);
    await panel.app.superuser.query(`insert into quarantined_sites (site_id, reason) values ($1, 'test')`, [
      other.siteId,
    ]);
    expect(await alarms(own)).toEqual([]);
    expect(await alarms(other)).toEqual([
      { kind: 'site_quarantined', site_id: other.siteId, since: expect.stringMatching(/Z$/) },
    ]);
  });

  it('name the site and the plan whose row was altered', async () => {
    const own = await panel.makeTenant();
    await panel.app.superuser.query(`update sites set domain = 'evil.example' where id = $1`, [own.siteId]);
    await panel.app.superuser.query('update subscriptions set consent_quota = 5 where tenant_id = $1', [own.id]);
    expect(await alarms(own)).toEqual([
      { kind: 'row_altered', site_id: own.siteId, since: null },
      { kind: 'row_altered', site_id: null, since: null },
    ]);
  });

  it('say that the quota is used up, or that there is no plan', async () => {
    const own = await panel.makeTenant();
    await panel.app.superuser.query(
      `insert into consent_usage (tenant_id, month, used) values ($1, date_trunc('month', now() at time zone 'UTC')::date, 1000000)`,
      [own.id],
    );
    expect(await alarms(own)).toEqual([{ kind: 'quota_used_up', site_id: null, since: null }]);
    await changeSubscription(panel.app.service.installation.adminPool, own.id, null);
    expect(await alarms(own)).toEqual([{ kind: 'plan_inactive', site_id: null, since: null }]);
  });

  it('say since when a consent has no time stamp that should have one', async () => {
    const shop = await RecordingTenant.of(panel.app);
    const before = Date.now();
    await shop.backend.record();
    // No worker seals it.
    const found = await until(
      async () => AlarmsResponse.parse((await shop.as('viewer', 'GET', '/alarms')).body).data[0],
    );
    expect(found).toMatchObject({ kind: 'stamp_overdue', site_id: null });
    // The delays of the policy, one second each, after the record.
    expect(Date.parse(found.since ?? '') - before).toBeGreaterThan(1_500);
  });
});
