import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { ask, type RunningApp, startApp } from '../api/server/running-app.js';
import { type CommandLine, commandLine } from './command-line.js';

const Made = z.looseObject({ id: z.string() });
const MadeSite = z.object({ data: Made }).transform(({ data }) => data);
const MadeKey = z.object({ data: z.looseObject({ id: z.string(), key: z.string() }) }).transform(({ data }) => data);
const Entries = z.object({
  entries: z.array(z.looseObject({ action: z.string(), actor: z.object({ kind: z.string(), user_id: z.null() }) })),
});

let app: RunningApp;
let line: CommandLine;
let tenant: string;
let site: string;
beforeAll(async () => {
  app = await startApp('api');
  line = commandLine(app);
  tenant = Made.parse(await line.json('admin', 'tenant', 'create', '--name', 'Acme')).id;
  site = MadeSite.parse(
    await line.json('admin', 'site', 'create', '--tenant', tenant, '--name', 'Shop', '--domain', 'shop.example'),
  ).id;
});
afterAll(() => app.stop());

it('shows tenants with their plan and usage', async () => {
  expect(await line.json('admin', 'tenant', 'list')).toMatchObject({ tenants: [{ id: tenant, name: 'Acme' }] });
  await line.json('admin', 'tenant', 'change', tenant, '--name', 'Acme Ltd');
  await line.json('admin', 'tenant', 'plan', tenant, '--plan', 'business', '--quota', '5');
  expect(await line.json('admin', 'tenant', 'show', tenant)).toMatchObject({ data: { name: 'Acme Ltd' } });
  expect(await line.json('admin', 'plan', 'show-subscription', '--tenant', tenant)).toMatchObject({
    data: { name: 'business', consent_quota: 5, used_this_month: 0, is_active: true },
  });
  expect(await line.json('admin', 'plan', 'list-usage', '--tenant', tenant)).toEqual({ data: [], next_cursor: null });
});

it('changes a site, and verifies its domain for an operator', async () => {
  expect(await line.json('admin', 'site', 'show-domain-verification', site)).toMatchObject({
    data: { verified_at: null, dns_record: { name: '_consent-ledger.shop.example', type: 'TXT' } },
  });
  const change = (...options: string[]) => line.json('admin', 'site', 'change', site, ...options);
  const keep = (...options: string[]) => line.json('admin', 'site', 'change-retention-period', site, ...options);
  expect(await change('--allowed-ips', '192.0.2.0/24', '--allowed-ips', '2001:db8::/32')).toMatchObject({
    data: { allowed_ips: ['192.0.2.0/24', '2001:db8::/32'] },
  });
  expect(await keep('--retention-days', '9')).toMatchObject({ data: { retention_days: 9 } });
  await change('--no-allowed-ips');
  await keep('--no-retention-days');
  await line.json('admin', 'site', 'verify', site);
  expect(await line.json('admin', 'site', 'list', '--tenant', tenant)).toMatchObject({
    data: [{ id: site, verified_at: expect.any(String), allowed_ips: [], retention_days: null }],
  });
  const wrong = await line.run(['admin', 'site', 'change', site, '--allowed-origins', 'shop.example']);
  expect(wrong).toMatchObject({ exitCode: 1, stdout: '' });
  expect(wrong.stderr).toContain('allowed_origins.0: must be an origin');
});

it('creates, rotates and revokes working API keys', async () => {
  const at = ['--site', site];
  const made = MadeKey.parse(await line.json('admin', 'api-key', 'create', ...at, '--scope', 'read', '--name', 'Web'));
  const next = MadeKey.parse(await line.json('admin', 'api-key', 'rotate', made.id, ...at, '--grace-seconds', '0'));
  const statusOf = async (key: string) =>
    (await ask(`${app.url}/tool/v1/ping`, { headers: { 'x-api-key': key } })).status;
  expect([await statusOf(made.key), await statusOf(next.key)]).toEqual([401, 200]);
  await line.json('admin', 'api-key', 'revoke', next.id, ...at);
  expect(await line.json('admin', 'api-key', 'list', ...at)).toMatchObject({
    data: [
      { id: made.id, name: 'Web', replaced_by: next.id },
      { id: next.id, revoked_at: expect.any(String) },
    ],
  });
});

it('writes an audit entry without secrets for every change', async () => {
  const log = await line.json('admin', 'audit-log', '--tenant', tenant);
  const { entries } = Entries.parse(log);
  expect(new Set(entries.map(({ actor }) => actor.kind))).toEqual(new Set(['operator']));
  expect(new Set(entries.map(({ action }) => action))).toEqual(
    new Set([
      'tenant.create',
      'tenant.change',
      'tenant.change_plan',
      'site.create',
      'site.change',
      'site.change_retention_period',
      'site.verify',
      'api_key.create',
      'api_key.rotate',
      'api_key.revoke',
    ]),
  );
  expect(entries.filter(({ action }) => action === 'site.change_retention_period')).toMatchObject([
    { details: { retention_days: { before: 9, after: null } } },
    { details: { retention_days: { before: null, after: 9 } } },
  ]);
  expect(JSON.stringify(log)).not.toMatch(/svc_live_/);
});

it('changes nothing for an unknown resource, and states the reason', async () => {
  const nobody = '00000000-0000-4000-8000-000000000000';
  for (const args of [
    ['tenant', 'show', nobody],
    ['tenant', 'change', nobody, '--name', 'x'],
    ['site', 'show', nobody],
    ['site', 'verify', nobody],
    ['api-key', 'rotate', nobody, '--site', site],
    ['api-key', 'revoke', nobody, '--site', nobody],
  ]) {
    const { exitCode, stdout, stderr } = await line.run(['admin', ...args]);
    expect({ exitCode, stdout }, args.join(' ')).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/(There is no|has no) /);
  }
});
