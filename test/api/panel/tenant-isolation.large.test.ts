import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { TokensResponse } from '../../../schemas/api/auth.js';
import { None } from '../../../schemas/api/panel/common.js';
import { PANEL_OPERATIONS } from '../../../src/api/panel/operations.js';
import type { Operation } from '../../../src/api/server/operation.js';
import { type ExportWorld, startExportWorld } from '../../evidence/exports/export-world.js';
import { startDnsServer, type TestDnsServer } from '../../support/dns-server.js';
import { ask } from '../server/running-app.js';
import { type Foreign, furnish, possessionsOf } from './other-tenant.js';
import { belowPrefix, type PanelApp } from './panel-fixture.js';

/**
 * Members of a path that name something of the whole installation, which says nothing of tenants.
 */
const INSTALLATION_WIDE: readonly string[] = ['number', 'size'];
const isInstallationWide = ({ path }: Operation): boolean => path.startsWith('/api/v1/timestamps/');
const paramsOf = ({ params }: Operation): readonly string[] => Object.keys(params.shape);
const withPlace = PANEL_OPERATIONS.filter(
  (operation) => paramsOf(operation).length > 0 && !isInstallationWide(operation),
);
/** Members that name nothing of a tenant's own. */
const NOBODYS: readonly string[] = ['language'];
const NOT_THERE = /_NOT_FOUND$/;

let dns: TestDnsServer;
let world: ExportWorld;
let panel: PanelApp;
let foreign: Foreign;
/** Values that no answer may contain: the other tenant's ids, names and people. */
let secrets: readonly string[];
let bodies: Readonly<Record<string, object>>;

const Made = z.object({ data: z.object({ id: z.string() }) });
const Described = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

beforeAll(async () => {
  dns = await startDnsServer();
  world = await startExportWorld({ DNS_SERVERS: dns.address, WEBHOOK_NETWORKS: '127.0.0.0/8' });
  panel = world.panel;
  foreign = await furnish(world);
  secrets = [
    ...Object.entries(foreign)
      .filter(([name]) => ![...INSTALLATION_WIDE, 'category_key', 'language'].includes(name))
      .map(([, value]) => value),
    world.user('dpo').email,
    'visitor-of-the-other',
    'invited@other.example',
    'words of the other tenant',
  ];
  bodies = bodiesNaming(foreign.consent_id ?? '');
});
afterAll(async () => {
  await world.stop();
  await dns.close();
});

/**
 * The bodies of the documentation; those that look for a person or a record look for one of the
 * other tenant.
 */
function bodiesNaming(consentId: string): Readonly<Record<string, object>> {
  return {
    ...Object.fromEntries(
      PANEL_OPERATIONS.flatMap(({ id, example }) => (example.body === undefined ? [] : [[id, example.body]])),
    ),
    searchConsents: { person: { by: 'visitor_id', value: 'visitor-of-the-other' }, reason: 'for the test' },
    search: { text: consentId },
    createErasure: { subject: { by: 'record', value: consentId } },
    createExport: { filter: { records: [consentId] }, disclose: 'all', reason: 'for the test' },
  };
}

function pathOf({ path }: Operation, values: Foreign): string {
  return belowPrefix(path).replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined || value === '') throw new Error(`the other tenant has no ${name}: give it one`);
    return value;
  });
}

const send = (operation: Operation, path: string, all = bodies) =>
  panel.as(panel.own.users.owner, operation.method.toUpperCase(), path, all[operation.id]);

const possessions = (): Promise<string> => possessionsOf(foreign, panel.app.superuser);

describe('a user of another tenant', () => {
  it.each(withPlace)('gets 404 from $id for every id of the other tenant', async (operation) => {
    const before = await possessions();
    const places = [pathOf(operation, foreign)];
    const named = paramsOf(operation).filter((name) => name !== 'site_id' && !NOBODYS.includes(name));
    if (paramsOf(operation).includes('site_id') && named.length > 0) {
      places.push(pathOf(operation, { ...foreign, site_id: panel.own.siteId }));
    }
    for (const place of places) {
      const answer = await send(operation, place);
      expect(answer, place).toMatchObject({ status: 404, body: { code: expect.stringMatching(NOT_THERE) } });
      const text = JSON.stringify(answer.body);
      for (const secret of secrets.filter((each) => !place.includes(each))) expect(text).not.toContain(secret);
    }
    expect(await possessions()).toBe(before);
  });

  it.each(PANEL_OPERATIONS)('gets no value of the other tenant from $id with its own ids', async (operation) => {
    const before = await possessions();
    const own: Record<string, string> = {
      ...foreign,
      tenant_id: panel.own.id,
      site_id: panel.own.siteId,
      user_id: panel.own.users.viewer.id,
    };
    const place = pathOf(operation, { ...own, size: '1', number: '1' });
    // Nothing of the other tenant's: what a user has named itself may be shown to it again.
    const answer = await send(operation, place, bodiesNaming(randomUUID()));
    const text = JSON.stringify(answer.body);
    expect(answer.status, text).not.toBe(429);
    expect(answer.status, text).toBeLessThan(500);
    for (const secret of secrets.filter((each) => !place.includes(each))) {
      expect(text, operation.id).not.toContain(secret);
    }
    expect(await possessions()).toBe(before);
  });

  it('finds no consent, person or record of the other tenant', async () => {
    const { owner } = panel.own.users;
    const base = `/sites/${panel.own.siteId}`;
    const found = await panel.as(owner, 'POST', `${base}/consents/search`, bodies.searchConsents);
    expect(found.body).toMatchObject({ data: [] });
    for (const text of [foreign.consent_id, foreign.erasure_id, foreign.site_id, foreign.export_id, foreign.webhook_id])
      expect((await panel.as(owner, 'POST', '/search', { text })).body, text).toEqual({ data: [] });
    const erasure = await panel.as(owner, 'POST', `${base}/erasures`, bodies.createErasure);
    // An unknown record is no error: the receipt counts 0.
    expect(erasure).toMatchObject({ status: 202, body: { data: { erased_records: 0 } } });
    const asked = await panel.as(owner, 'POST', `${base}/exports`, bodies.createExport);
    const exportId = Made.parse(asked.body).data.id;
    await expect
      .poll(async () => (await panel.as(owner, 'GET', `${base}/exports/${exportId}`)).body, { interval: 500 })
      .toMatchObject({ data: { state: 'finished', package: { counts: { consents: 0, attachments: 0 } } } });
    const { rows } = await panel.app.superuser.query('select from record_keys where event_id = $1', [
      foreign.consent_id,
    ]);
    expect(rows).toHaveLength(1);
  });

  it('cannot carry a cursor of the other tenant’s list over', async () => {
    const first = await panel.as(world.user('owner'), 'GET', `/sites/${world.siteId}/api-keys?limit=1`);
    const { next_cursor: cursor } = z.object({ next_cursor: z.string() }).parse(first.body);
    const carried = await panel.as(
      panel.own.users.owner,
      'GET',
      `/sites/${panel.own.siteId}/api-keys?limit=1&cursor=${cursor}`,
    );
    for (const secret of secrets) expect(JSON.stringify(carried.body)).not.toContain(secret);
  });

  it('is looked at in every operation: each has a place, or takes none', () => {
    const open = PANEL_OPERATIONS.filter((operation) => !withPlace.includes(operation));
    for (const operation of open) {
      expect(operation.params === None || isInstallationWide(operation), operation.id).toBe(true);
    }
  });
});

describe('a backend of another tenant', () => {
  /** Keys in `foreign` of the other tenant's resources, by route of the Tool API with a path parameter. */
  const named: Readonly<Record<string, readonly string[]>> = {
    '/tool/v1/documents/{slug}/active': ['slug'],
    '/tool/v1/consents/verify/{id}': ['consent_id', 'consent_token'],
    '/tool/v1/s2s/evidence-exports/{id}': ['export_id'],
    '/tool/v1/s2s/evidence-exports/{id}/package': ['export_id'],
    '/tool/v1/s2s/erasures/{id}': ['erasure_id'],
    '/tool/v1/s2s/consents/{token}/receipt': ['consent_token'],
  };
  const { paths } = Described.parse(JSON.parse(readFileSync('dist/openapi/tool-api.json', 'utf8')));

  it('is tried in every route with a path parameter, except the public ones', () => {
    const isPublic = (path: string): boolean => /^\/(?:checkpoints|api\/v1\/public)\//.test(path);
    const routes = Object.entries(paths).filter(([path]) => path.includes('{') && !isPublic(path));
    expect(routes.map(([path]) => path).sort()).toEqual(Object.keys(named).sort());
    for (const [path, methods] of routes) expect(Object.keys(methods), path).toEqual(['get']);
  });

  it('gets nothing that the other tenant gets by the same paths', async () => {
    const others = await panel.app.seed();
    const signIn = await panel.signIn(others.api_user.email, others.api_user.password);
    const { data } = TokensResponse.parse(signIn.body);
    const headers = { 'x-api-key': others.keys.read, authorization: `Bearer ${data.access_token}` };
    const before = await possessions();
    for (const [path, names] of Object.entries(named)) {
      for (const name of names) {
        const place = path.replace(/\{\w+\}/, foreign[name] ?? '');
        const answer = await ask(panel.app.url + place, { headers });
        expect(answer, place).toMatchObject({ status: 404, body: { code: expect.stringMatching(NOT_THERE) } });
        const text = JSON.stringify(answer.body);
        for (const secret of secrets.filter((each) => !place.includes(each))) expect(text).not.toContain(secret);
      }
    }
    expect(await possessions()).toBe(before);
    for (const [path, names] of Object.entries(named)) {
      for (const name of names) {
        const place = path.replace(/\{\w+\}/, foreign[name] ?? '');
        expect((await world.s2s('GET', place)).status, place).toBe(200);
      }
    }
  });
});
