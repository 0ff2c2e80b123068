import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConfigResponse } from '../../../schemas/api/config.js';
import { ConfigurationDraft, DraftLink } from '../../../schemas/api/panel/configuration.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { get } from '../server/running-app.js';
import { type PanelApp, type PanelTenant, startPanel } from './panel-fixture.js';

const DraftAnswer = z.object({ data: ConfigurationDraft });
const GROUND = { en: 'We count visits to improve the shop.', tr: 'Mağazayı iyileştirmek için ziyaretleri sayarız.' };

describe('the rules of a site', () => {
  let panel: PanelApp;
  let tenant: PanelTenant;
  let key: string;
  beforeAll(async () => {
    panel = await startPanel('serve', {
      TRUSTED_PROXIES: '127.0.0.0/8',
      GEO_COUNTRY_HEADER: 'CF-IPCountry',
      GEO_REGION_HEADER: 'X-Region',
    });
    tenant = await panel.makeTenant();
    const { adminPool } = panel.app.service.installation;
    ({ key } = await createApiKey(adminPool, tenant.siteId, 'read'));
    await call('PUT', '/configuration', { revision: 0, ...DEMO_CONFIG });
  });
  afterAll(() => panel.stop());

  const call = (method: string, path: string, body?: unknown) =>
    panel.as(tenant.users.admin, method, `/sites/${tenant.siteId}${path}`, body);
  const draft = async () => DraftAnswer.parse((await call('GET', '/configuration')).body).data;
  const change = async (members: object) =>
    call('PATCH', '/configuration', { ...members, revision: (await draft()).revision });
  const publish = async () => call('POST', '/configuration/publish', { revision: (await draft()).revision });
  /** The configuration as a page in a place reads it. */
  const seenIn = async (place: string, { of = key, query = '' } = {}) => {
    const [country = '', region = ''] = place.split('-');
    const path = `/tool/v1/config?language=tr${query}`;
    const { body } = await get(panel.app, path, of, { 'cf-ipcountry': country, 'x-region': region });
    const { data } = ConfigResponse.parse(body);
    const rules = Object.fromEntries(data.categories.map(({ key, rule, ground }) => [key, ground ?? rule ?? null]));
    return { id: data.rule_id ?? null, rules, days: data.refusal_days, isRequest: data.region.signal_is_request };
  };

  const california = { id: 'california', places: ['US-CA'], categories: { marketing: { rule: 'opt_out' } } };
  const exempt = { rule: 'exempt', exception: 'own_statistics', ground: GROUND };
  const recipient = 'Demonstration Analytics Ltd.';
  const britain = {
    id: 'britain',
    frameworks: ['uk_gdpr'],
    categories: { analytics: { ...exempt, processor: recipient } },
  };

  it('are stored as they are, and refused at publication with field, reason and source', async () => {
    const rules = [
      { ...california, places: ['US-CA', 'US-FL'] },
      {
        ...britain,
        places: ['UK'],
        categories: { analytics: { ...exempt, ground: { en: 'Why' } }, necessary: { rule: 'opt_in' } },
      },
      { id: 'california', categories: { nothing: { rule: 'opt_in' } } },
    ];
    const stored = await change({ rules });
    expect(stored).toMatchObject({ status: 200, body: { data: { rules } } });
    const { problems } = await draft();
    expect(problems.map(({ field }) => field)).toEqual([
      'rules.2.id',
      'rules.2.places',
      'rules.0.categories.marketing',
      'rules.1.categories.analytics',
      'rules.1.categories.analytics',
      'rules.1.categories.necessary',
      'rules.2.categories.nothing',
      'rules.1.places.0',
      'rules.1.categories.analytics.ground.tr',
    ]);
    expect(problems[2]?.message).toMatch(/^opt_out is not allowed in US-FL: .*\(docs\/law\.md, States\)$/);
    expect(problems[4]?.message).toMatch(`gets the data: ${recipient} (PECR, Schedule A1`);
    expect(await publish()).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR', errors: problems } });
  });

  it.each([
    [{ rules: [{ ...california, frameworks: ['none'] }] }, 'rules.0.frameworks.0'],
    [{ rules: [{ ...california, places: ['California'] }] }, 'rules.0.places.0'],
    [{ rules: [{ ...california, id: 'In California' }] }, 'rules.0.id'],
    [{ rules: [{ ...california, categories: { marketing: { rule: 'never' } } }] }, 'rules.0.categories.marketing.rule'],
    [{ refusal_days: -1 }, 'refusal_days'],
    [{ refusal_days: 1.5 }, 'refusal_days'],
    [{ refusal_days: 36_501 }, 'refusal_days'],
  ])('of another form are no draft: %j', async (members, field) => {
    const before = await draft();
    expect(await change(members)).toMatchObject({ status: 422, body: { errors: [{ field }] } });
    expect(await draft()).toEqual(before);
  });

  it('are sealed as published, and served for the place of each request', async () => {
    await change({ rules: [california, britain] });
    expect((await draft()).problems).toEqual([]);
    expect(await publish()).toMatchObject({ status: 201 });
    const { body } = await call('GET', '/configuration/versions/1');
    const { record } = z.object({ data: z.object({ record: z.string() }) }).parse(body).data;
    expect(parseSiteConfig(record).rules).toEqual([california, britain]);
    const none = { necessary: null, analytics: null, marketing: null };
    const days = DEMO_CONFIG.validity_days;
    const waiting = { id: null, rules: none, days, isRequest: false };
    expect(await seenIn('US-CA')).toEqual({
      id: 'california',
      rules: { ...none, marketing: 'opt_out' },
      days,
      isRequest: true,
    });
    expect(await seenIn('GB')).toEqual({ ...waiting, id: 'britain', rules: { ...none, analytics: GROUND.tr } });
    expect(await seenIn('US-CO')).toEqual({ ...waiting, isRequest: true });
    for (const place of ['US-VA', 'US', 'TR', 'XX']) expect(await seenIn(place)).toEqual(waiting);
  });

  it('follow the draft by its link, and stop nothing optional from waiting on a live page with a test key', async () => {
    await change({ rules: [{ ...california, id: 'virginia', places: ['US-VA'] }], refusal_days: null });
    const { data } = z.object({ data: DraftLink }).parse((await call('POST', '/configuration/draft-link')).body);
    const query = `&draft=${data.url.split('=')[1]}`;
    expect(await seenIn('US-VA', { query })).toMatchObject({ id: 'virginia', days: null, isRequest: true });
    expect(await seenIn('US-CA', { query })).toMatchObject({ id: null, isRequest: true });
    expect(await seenIn('US-VA')).toMatchObject({ id: null, isRequest: false });
    const { adminPool } = panel.app.service.installation;
    const test = await createApiKey(adminPool, tenant.siteId, 'write', { mode: 'test' });
    expect((await seenIn('GB', { of: test.key })).rules).toMatchObject({ analytics: GROUND.tr });
    const answer = await get(panel.app, '/tool/v1/config', test.key, {
      origin: 'https://shop.example',
      'cf-ipcountry': 'GB',
    });
    const { categories } = ConfigResponse.parse(answer.body).data;
    expect(categories.map(({ key, rule }) => [key, rule])).toEqual([
      ['necessary', undefined],
      ['svc_test', undefined],
    ]);
  });

  it('and the period of a refusal are given up again', async () => {
    await change({ refusal_days: 30 });
    expect(await draft()).toMatchObject({ refusal_days: 30 });
    await change({ refusal_days: 0, rules: [] });
    expect(await draft()).not.toHaveProperty('refusal_days');
    expect(await publish()).toMatchObject({ status: 201 });
    const { record } = z
      .object({ data: z.object({ record: z.string() }) })
      .parse((await call('GET', '/configuration/versions/2')).body).data;
    expect(Object.keys(parseSiteConfig(record))).not.toEqual(expect.arrayContaining(['rules']));
    expect(Object.keys(parseSiteConfig(record))).not.toEqual(expect.arrayContaining(['refusal_days']));
  });

  it('lose a category that is removed', async () => {
    await change({ rules: [california, britain] });
    for (const { id } of (await draft()).cookies.filter(({ category }) => category === 'marketing'))
      await call('DELETE', `/cookies/${id}`);
    expect(await call('DELETE', '/categories/marketing')).toMatchObject({ status: 200 });
    expect((await draft()).rules).toEqual([{ ...california, categories: {} }, britain]);
  });
});
