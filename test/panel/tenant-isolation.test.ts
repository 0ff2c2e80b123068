import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NoBody, None } from '../../schemas/api/panel/common.js';
import type { PanelOperation } from '../../src/panel/operation.js';
import { PANEL_OPERATIONS } from '../../src/panel/operations.js';
import { type ExportWorld, startExportWorld } from '../exports/export-world.js';
import type { PanelApp } from './panel-fixture.js';

/** Members of a path that name something of the whole installation, which says nothing of tenants. */
const INSTALLATION_WIDE: readonly string[] = ['number', 'size'];
const isInstallationWide = ({ path }: PanelOperation): boolean => path.startsWith('/time-stamps/');
const paramsOf = ({ params }: PanelOperation): readonly string[] => Object.keys(params.shape);
const withPlace = PANEL_OPERATIONS.filter(
  (operation) => paramsOf(operation).length > 0 && !isInstallationWide(operation),
);
/** Members that name nothing of a tenant's own. */
const NOBODYS: readonly string[] = ['language'];
const NOT_THERE = /_NOT_FOUND$/;

/** The ids of everything that the other tenant has, by the name that paths give them. */
type Foreign = Readonly<Record<string, string>>;

let world: ExportWorld;
let panel: PanelApp;
let foreign: Foreign;
/** What may show up in no answer: the other tenant's ids, names and people. */
let secrets: readonly string[];
let bodies: Readonly<Record<string, object>>;

const Id = z.object({ id: z.string() });
const Made = z.object({ data: Id });

beforeAll(async () => {
  world = await startExportWorld();
  panel = world.panel;
  foreign = await furnish(world);
  secrets = [
    ...Object.entries(foreign)
      .filter(([name]) => ![...INSTALLATION_WIDE, 'category_key', 'language'].includes(name))
      .map(([, value]) => value),
    world.user('dpo').email,
    'visitor-of-the-other',
    'invited@other.example',
  ];
  bodies = bodiesNaming(foreign.consent_id ?? '');
}, 240_000);
afterAll(() => world.stop());

/** Gives the other tenant one of everything, through its own panel where that can be. */
async function furnish({ demo, siteId, user, record, create, reaches }: ExportWorld): Promise<Foreign> {
  const owner = user('owner');
  const site = `/sites/${siteId}`;
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await panel.as(owner, 'POST', path, body);
    expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return Made.parse(answer.body).data.id;
  };
  const [consent = ''] = await record(['visitor-of-the-other']);
  const document = demo.documents[0];
  const evidenceExport = await create({});
  await reaches(evidenceExport.id, 'finished');
  const category = { key: 'isolated', required: false, title: {}, purpose: {}, lawful_basis: 'consent' };
  await panel.as(owner, 'POST', `${site}/categories`, {
    ...category,
    personal_data: [],
    recipients: [],
    retention_days: null,
  });
  const cookie = {
    name: 'c',
    provider: 'p',
    category: 'isolated',
    party: 'first',
    duration_seconds: null,
    purpose: {},
  };
  const erasureId = await made(`${site}/erasures`, { subject: { by: 'visitor_id', value: 'nobody' } });
  const isFinished = async (): Promise<boolean> =>
    JSON.stringify((await panel.as(owner, 'GET', `${site}/erasures/${erasureId}`)).body).includes('"finished"');
  while (!(await isFinished())) await sleep(300);
  const signIns = await panel.app.superuser.query('select id from sign_ins where user_id = $1', [owner.id]);
  return {
    tenant_id: demo.tenant_id,
    site_id: siteId,
    key_id: await made(`${site}/api-keys`, { scope: 'read' }),
    document_id: document?.id ?? '',
    version_id: document?.versions[0]?.id ?? '',
    category_key: 'isolated',
    cookie_id: await made(`${site}/cookies`, cookie),
    language: 'en',
    number: '1',
    consent_id: consent,
    erasure_id: erasureId,
    export_id: evidenceExport.id,
    user_id: user('viewer').id,
    invitation_id: await made('/invitations', { email: 'invited@other.example', role: 'viewer' }),
    sign_in_id: z.array(Id).parse(signIns.rows)[0]?.id ?? '',
  };
}

/** A body for each operation that takes one. */
function bodiesNaming(consentId: string): Readonly<Record<string, object>> {
  const text = { language: 'en', title: 'T', media_type: 'text/plain', content: 'x' };
  const category = {
    key: 'k',
    required: false,
    title: {},
    purpose: {},
    lawful_basis: 'consent',
    personal_data: [],
    recipients: [],
    retention_days: null,
  };
  const cookie = {
    name: 'n',
    provider: 'p',
    category: 'isolated',
    party: 'first',
    duration_seconds: null,
    purpose: {},
  };
  const settings = {
    controller: { legal_name: null, contact: null },
    default_language: null,
    languages: [],
    validity_days: null,
  };
  return {
    createTenant: { name: 'T', owner_email: 'o@o.example' },
    changeTenant: { name: 'T' },
    createSite: { name: 'S', domain: 's.example' },
    changeSite: { name: 'S' },
    changeRetentionPeriod: { retention_days: 1 },
    createApiKey: { scope: 'write' },
    changeApiKey: { name: 'x' },
    rotateApiKey: { grace_seconds: 0 },
    createDocument: { slug: 's', kind: 'terms' },
    changeDocument: { requires_approval_token: true },
    createDocumentVersion: text,
    changeDocumentVersion: { title: 'x' },
    publishDocumentVersion: {},
    replaceConfiguration: { ...settings, banner: {}, withdrawal: {}, categories: [], cookies: [], revision: 0 },
    changeConfiguration: { validity_days: 3, revision: 0 },
    publishConfiguration: { revision: 0 },
    putBannerTexts: { texts: {}, withdrawal: null },
    createCategory: category,
    changeCategory: { required: true },
    createCookie: cookie,
    changeCookie: { provider: 'q' },
    searchConsents: { person: { by: 'visitor_id', value: 'visitor-of-the-other' } },
    discloseConsent: { fields: 'all' },
    createErasure: { subject: { by: 'record', value: consentId } },
    createExport: { filter: { records: [consentId] }, disclose: 'all' },
    changeUser: { is_disabled: true },
    createInvitation: { email: 'somebody@own.example', role: 'viewer' },
  };
}

function pathOf({ path }: PanelOperation, values: Foreign): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined || value === '') throw new Error(`the other tenant has no ${name}: give it one`);
    return value;
  });
}

function bodyOf({ id, body }: PanelOperation, all: typeof bodies): object | undefined {
  if (body === NoBody) return undefined;
  const named = all[id];
  if (named === undefined && !body.safeParse(undefined).success) throw new Error(`there is no body for ${id}: add one`);
  return named;
}

const send = (operation: PanelOperation, path: string, all = bodies) =>
  panel.as(panel.own.users.owner, operation.method.toUpperCase(), path, bodyOf(operation, all));

/** Everything of the other tenant that a change could have touched, as text. */
async function possessions(): Promise<string> {
  const tables = {
    tenants: 'id = $1',
    subscriptions: 'tenant_id = $1',
    users: 'tenant_id = $1',
    invitations: 'tenant_id = $1',
    sites: 'tenant_id = $1',
    api_keys: 'site_id = $2',
    documents: 'site_id = $2',
    document_versions: 'site_id = $2',
    site_configs: 'site_id = $2',
    site_config_drafts: 'site_id = $2',
    record_keys: 'site_id = $2',
    erasure_requests: 'site_id = $2',
    exports: 'site_id = $2',
    sign_ins: 'user_id in (select id from users where tenant_id = $1)',
  };
  const parts: string[] = [];
  for (const [table, condition] of Object.entries(tables)) {
    const { rows } = await panel.app.superuser.query(
      `select $1::uuid as tenant, $2::uuid as site, md5(string_agg(row, ',' order by row)) as digest from (select (to_jsonb(t) - 'last_used_at')::text as row from ${table} t where ${condition}) r`,
      [foreign.tenant_id, foreign.site_id],
    );
    parts.push(`${table} ${JSON.stringify(rows)}`);
  }
  return parts.join('\n');
}

describe('a user of another tenant', () => {
  it.each(withPlace)('gets nothing from $id, whatever of the other tenant the path names', async (operation) => {
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

  it.each(PANEL_OPERATIONS)('learns nothing of the other tenant by $id in its own place', async (operation) => {
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
    for (const secret of secrets.filter((each) => !place.includes(each))) {
      expect(text, operation.id).not.toContain(secret);
    }
    expect(await possessions()).toBe(before);
  });

  it('finds no consent, person or record of the other tenant', { timeout: 120_000 }, async () => {
    const { owner } = panel.own.users;
    const base = `/sites/${panel.own.siteId}`;
    const found = await panel.as(owner, 'POST', `${base}/consents/search`, bodies.searchConsents);
    expect(found.body).toMatchObject({ data: [] });
    const erasure = await panel.as(owner, 'POST', `${base}/erasures`, bodies.createErasure);
    expect([202, 404]).toContain(erasure.status);
    const asked = await panel.as(owner, 'POST', `${base}/exports`, bodies.createExport);
    const exportId = Made.parse(asked.body).data.id;
    await expect
      .poll(async () => (await panel.as(owner, 'GET', `${base}/exports/${exportId}`)).body, {
        timeout: 60_000,
        interval: 500,
      })
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
