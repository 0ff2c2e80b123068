import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { RecordingTenant } from '../panel/recording-tenant.js';
import { get, type RunningApp, startApp } from '../server/running-app.js';
import type { Accepted } from './export-fixture.js';

const Config = z.object({
  data: z.object({
    service_switches: z.boolean().optional(),
    categories: z.array(z.looseObject({ key: z.string(), services: z.unknown().optional() })),
  }),
});
const Draft = z.object({ data: z.object({ revision: z.int() }) });
const Consents = z.object({ data: z.object({ consents: z.array(z.looseObject({ id: z.string() })) }) });
const Exported = z.object({ data: z.array(z.looseObject({ id: z.string() })) });

const SERVICES = [
  { key: 'counter', name: 'Counter', recipient: 'Counter Ltd', policy_url: 'https://counter.example/privacy' },
  { key: 'heatmap', name: 'Heat map', recipient: 'Heat Ltd', policy_url: null },
];

describe('services that visitors accept one by one', () => {
  let app: RunningApp;
  let shop: RecordingTenant;
  beforeAll(async () => {
    app = await startApp('serve');
    shop = await RecordingTenant.of(app);
    const change = await shop.inSite('admin', 'PATCH', '/categories/analytics', { services: SERVICES });
    expect(change.status).toBe(200);
    await publish({ service_switches: true });
  });
  afterAll(() => app.stop());

  async function publish(settings: object): Promise<void> {
    const { revision } = Draft.parse((await shop.inSite('admin', 'GET', '/configuration')).body).data;
    const changed = await shop.inSite('admin', 'PATCH', '/configuration', { revision, ...settings });
    const { data } = Draft.parse(changed.body);
    const published = await shop.inSite('admin', 'POST', '/configuration/publish', { revision: data.revision });
    expect(published.status, JSON.stringify(published.body)).toBe(201);
  }

  const config = async () => Config.parse((await get(app, '/tool/v1/config', shop.backend.demo.keys.read)).body).data;

  /** What status, export, panel and public verify say of a record's services. */
  const shown = async ({ id, consent_token: token }: Accepted & { readonly id: string }, visitor: string) => {
    const status = Consents.parse((await shop.get(`/tool/v1/consents/status?visitor_id=${visitor}`)).body).data;
    const exported = Exported.parse((await shop.get(`/tool/v1/s2s/consents/export?visitor_id=${visitor}`)).body).data;
    const panel = await shop.inSite('dpo', 'GET', `/consents/${id}`);
    const verified = await shop.get(`/api/v1/public/consents/verify?token=${token}`);
    return [
      status.consents.find((one) => one.id === id)?.services,
      exported.find((one) => one.id === id)?.services,
      z.object({ data: z.object({ record: z.object({ services: z.unknown() }) }) }).parse(panel.body).data.record
        .services,
      z.object({ data: z.object({ services: z.unknown() }) }).parse(verified.body).data.services,
    ];
  };
  const asked = () => ({ consent_type: 'cookie', document_version_id: shop.backend.version('cookie_policy') });
  const record = async (fields: object) => {
    const visitor = randomUUID();
    return { visitor, record: await shop.record({ ...asked(), visitor_id: visitor, ...fields }) };
  };
  const refused = async (fields: object) => {
    const consent = { ...asked(), ...fields, idempotency_key: randomUUID() };
    return shop.post('/tool/v1/s2s/consents', consent);
  };

  it('stand under their category in the configuration that pages read', async () => {
    const { service_switches: hasSwitches, categories } = await config();
    expect(hasSwitches).toBe(true);
    expect(categories.find(({ key }) => key === 'analytics')?.services).toEqual(SERVICES);
    expect(categories.find(({ key }) => key === 'necessary')?.services).toBeUndefined();
  });

  it('are recorded and shown everywhere, and permit no category of which one is refused', async () => {
    const services = { counter: true, heatmap: false };
    const some = await record({ decision: 'partial', categories: { necessary: true, analytics: false }, services });
    expect(await shown(some.record, some.visitor)).toEqual([services, services, services, services]);
  });

  it('have the answer of their category where the caller names none', async () => {
    const all = await record({ decision: 'accepted', categories: { necessary: true, analytics: true } });
    const services = { counter: true, heatmap: true };
    expect(await shown(all.record, all.visitor)).toEqual([services, services, services, services]);
  });

  it('of a withdrawal that contradicts itself permit less', async () => {
    const services = { counter: true, heatmap: false };
    const withdrawn = await record({ decision: 'withdrawn', categories: { analytics: true }, services });
    expect(await shown(withdrawn.record, withdrawn.visitor)).toEqual([services, services, services, services]);
    const panel = await shop.inSite('dpo', 'GET', `/consents/${withdrawn.record.id}`);
    expect(panel.body).toMatchObject({ data: { record: { categories: { analytics: false } } } });
  });

  it('are refused with a code where they contradict their category or the decision', async () => {
    const answers = [
      await refused({ decision: 'partial', categories: { analytics: true }, services: { heatmap: false } }),
      await refused({ decision: 'rejected', categories: { analytics: false }, services: { counter: true } }),
      await refused({ decision: 'partial', categories: { analytics: false }, services: { counter: 'yes' } }),
    ];
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 422, body: { error_code: 'INVALID_CATEGORIES' } });
    expect(answers[0]?.body).toMatchObject({ errors: [{ field: 'services.heatmap' }] });
  });

  it('are ignored with a warning where the site has no such service, or no switches', async () => {
    const unknown = { decision: 'partial', categories: { analytics: false }, services: { conter: true } };
    const named = (message: string) => ({
      data: { warnings: [{ field: 'services.conter', message: expect.stringContaining(message) }] },
    });
    expect((await refused(unknown)).body).toMatchObject(named('did you mean counter?'));
    await publish({ service_switches: false });
    const without = await record({
      decision: 'partial',
      categories: { necessary: true, analytics: false },
      services: { counter: true },
    });
    expect(await shown(without.record, without.visitor)).toEqual([null, null, null, null]);
    expect((await refused(unknown)).body).toMatchObject(named('no switches'));
  });

  it('have keys that no category has, and cookies only of their own category', async () => {
    const twice = await shop.inSite('admin', 'PATCH', '/categories/analytics', {
      services: [{ ...SERVICES[0], key: 'necessary' }],
    });
    expect(twice).toMatchObject({ status: 422, body: { errors: [{ message: expect.stringContaining('necessary') }] } });
    const cookie = {
      name: '_heat',
      provider: 'Heat Ltd',
      party: 'third',
      duration_seconds: null,
      purpose: { en: 'Heat', tr: 'Isı' },
    };
    const wrong = await shop.inSite('admin', 'POST', '/cookies', {
      ...cookie,
      category: 'necessary',
      service: 'heatmap',
    });
    expect(wrong).toMatchObject({
      status: 422,
      body: { errors: [{ message: 'the category necessary has no service heatmap' }] },
    });
    const right = await shop.inSite('admin', 'POST', '/cookies', {
      ...cookie,
      category: 'analytics',
      service: 'heatmap',
    });
    expect(right.status).toBe(201);
  });
});
