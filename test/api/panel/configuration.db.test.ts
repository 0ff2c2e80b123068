import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConfigResponse } from '../../../schemas/api/config.js';
import {
  ConfigurationDraft,
  ConfigurationVersion,
  ConfigurationVersionWithRecord,
  DraftLink,
} from '../../../schemas/api/panel/configuration.js';
import { DraftCookie } from '../../../schemas/api/panel/cookies.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { DRAFT_LINK_SECONDS, newDraftToken } from '../../../src/tenancy/configuration/draft-link.js';
import { publishSiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { verifySite } from '../../../src/tenancy/domains/verify-site.js';
import { type Answer, get } from '../server/running-app.js';
import { type PanelApp, type PanelTenant, startPanel } from './panel-fixture.js';

const DraftAnswer = z.object({ data: ConfigurationDraft });
const PublishedAnswer = z.object({ data: ConfigurationVersionWithRecord.partial({ record: true }) });
const VersionList = z.object({ data: z.array(ConfigurationVersion), next_cursor: z.string().nullable() });
const CookieAnswer = z.object({ data: DraftCookie, revision: z.int() });

let panel: PanelApp;
beforeAll(async () => {
  panel = await startPanel('serve');
});
afterAll(() => panel.stop());

const WRONG_STATE = { status: 409, body: { code: 'WRONG_STATE' } };
const NOT_FOUND = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } };

/** Below the site of a tenant of its own. */
class Site {
  private constructor(readonly tenant: PanelTenant) {}

  static async make(): Promise<Site> {
    return new Site(await panel.makeTenant());
  }

  call(method: string, path: string, body?: unknown): Promise<Answer> {
    return panel.as(this.tenant.users.admin, method, `/sites/${this.tenant.siteId}${path}`, body);
  }

  async draft(): Promise<ConfigurationDraft> {
    return DraftAnswer.parse((await this.call('GET', '/configuration')).body).data;
  }

  async publish(): Promise<Answer> {
    return this.call('POST', '/configuration/publish', { revision: (await this.draft()).revision });
  }

  async audit(action: string): Promise<unknown> {
    return (await panel.as(this.tenant.users.owner, 'GET', `/audit-log?action=${action}`)).body;
  }
}

const category = (key: string) => ({
  key,
  required: false,
  title: { en: key },
  purpose: { en: `Purpose of ${key}` },
  lawful_basis: 'consent',
  personal_data: [],
  recipients: [],
  retention_days: null,
});
const cookie = (name: string, members: object = {}) => ({
  name,
  provider: 'Shop Ltd.',
  category: 'analytics',
  party: 'first',
  duration_seconds: 3600,
  purpose: { en: 'Counts' },
  ...members,
});

describe('the draft of a configuration', () => {
  it('takes a time zone that the service knows, and gives it up again', async () => {
    const site = await Site.make();
    const zoned = async (time_zone: unknown) =>
      site.call('PATCH', '/configuration', { time_zone, revision: (await site.draft()).revision });
    for (const zone of ['+03:00', '', 'A B'])
      expect(await zoned(zone), zone).toMatchObject({ status: 422, body: { errors: [{ field: 'time_zone' }] } });
    const problems = expect.arrayContaining([expect.objectContaining({ field: 'time_zone' })]);
    expect(await zoned('Mars/Olympus')).toMatchObject({ body: { data: { time_zone: 'Mars/Olympus', problems } } });
    expect(await site.publish()).toMatchObject({ status: 422, body: { errors: problems } });
    expect(await zoned('Europe/Istanbul')).toMatchObject({
      body: { data: { problems: expect.not.arrayContaining([{ field: 'time_zone' }]) } },
    });
    await zoned(null);
    expect(await site.draft()).not.toHaveProperty('time_zone');
    await zoned(null);
    expect(await site.audit('configuration.change')).toMatchObject({
      data: [{ details: { changed: [] } }, { details: { changed: ['time_zone'] } }, {}, {}],
    });
  });

  it('takes an address for withdrawals on its domain alone, and gives it up again', async () => {
    const site = await Site.make();
    const addressed = async (withdrawal_url: unknown) =>
      site.call('PATCH', '/configuration', { withdrawal_url, revision: (await site.draft()).revision });
    const refused = { status: 422, body: { code: 'VALIDATION_ERROR', errors: [{ field: 'withdrawal_url' }] } };
    for (const url of ['javascript:alert(1)', 'https://a@shop.example/', 'https://shop.example:1/', ''])
      expect(await addressed(url), url).toMatchObject(refused);
    const problems = expect.arrayContaining([expect.objectContaining({ field: 'withdrawal_url' })]);
    expect(await addressed('https://evil.example/')).toMatchObject({ body: { data: { problems } } });
    expect(await site.publish()).toMatchObject({ status: 422, body: { errors: problems } });
    await addressed('https://shop.example/choices');
    expect(await site.draft()).toMatchObject({ withdrawal_url: 'https://shop.example/choices' });
    expect((await site.draft()).problems.map(({ field }) => field)).not.toContain('withdrawal_url');
    await addressed(null);
    expect(await site.draft()).not.toHaveProperty('withdrawal_url');
  });

  it('takes choices of accounts with a person space, publishes them, and gives them up again', async () => {
    const site = await Site.make();
    await site.call('PUT', '/configuration', { revision: 0, ...DEMO_CONFIG });
    const changed = async (accounts: unknown) =>
      site.call('PATCH', '/configuration', { accounts, revision: (await site.draft()).revision });
    const record = async (number: number) => {
      const { data } = PublishedAnswer.parse((await site.call('GET', `/configuration/versions/${number}`)).body);
      return parseSiteConfig(data.record ?? '');
    };
    for (const name of ['', ' Shops', 'Shops ', 'a\nb', 'a\u202eb', 'a'.repeat(81), 1])
      expect(await changed({ person_space: name }), String(name)).toMatchObject({
        status: 422,
        body: { errors: [{ field: 'accounts.person_space' }] },
      });
    expect(await changed(true)).toMatchObject({ status: 422, body: { errors: [{ field: 'accounts' }] } });
    expect(await site.publish()).toMatchObject({ status: 201 });
    expect(await record(1)).not.toHaveProperty('accounts');
    expect(await changed({})).toMatchObject({ body: { data: { accounts: { person_space: null }, problems: [] } } });
    expect(await changed({ person_space: 'Boutiques Élan' })).toMatchObject({ status: 200 });
    expect(await site.publish()).toMatchObject({ status: 201 });
    expect(await record(2)).toMatchObject({ accounts: { person_space: 'Boutiques Élan' } });
    await changed(null);
    expect(await site.draft()).toMatchObject({ has_changes: true });
    expect(await site.draft()).not.toHaveProperty('accounts');
    expect(await site.publish()).toMatchObject({ status: 201 });
    expect(await record(3)).not.toHaveProperty('accounts');
    expect(await site.audit('configuration.change')).toMatchObject({
      data: [1, 2, 3].map(() => ({ details: { changed: ['accounts'] } })),
    });
  });

  it('begins empty, lists what is missing, and is published step by step', async () => {
    const site = await Site.make();
    expect(await site.draft()).toMatchObject({ revision: 0, changed_at: null, languages: [], in_force: null });
    expect((await site.draft()).problems.map(({ field }) => field)).toEqual([
      'controller.legal_name',
      'controller.contact',
      'languages',
      'default_language',
    ]);
    expect(await site.publish()).toMatchObject({
      status: 422,
      body: {
        code: 'VALIDATION_ERROR',
        errors: expect.arrayContaining([{ field: 'controller.legal_name', message: 'is missing' }]),
      },
    });
    const settings = {
      controller: { legal_name: 'Shop Ltd.', contact: 'privacy@shop.example' },
      default_language: 'en',
      languages: ['en'],
      validity_days: 90,
    };
    expect(await site.call('PATCH', '/configuration', { revision: 0, ...settings })).toMatchObject({
      status: 200,
      body: { data: { revision: 1, ...settings, problems: [{ field: 'withdrawal.en', message: 'is missing' }] } },
    });
    await site.call('PUT', '/banner-texts/en', { texts: { title: 'Choose' }, withdrawal: 'In the footer' });
    await site.call('POST', '/categories', category('analytics'));
    await site.call('POST', '/cookies', cookie('_visits'));
    const published = await site.publish();
    expect(published).toMatchObject({
      status: 201,
      body: { data: { number: 1, is_in_force: true, publication: { sealed: null, stamped: null } } },
    });
    const { data } = PublishedAnswer.parse(published.body);
    const read = PublishedAnswer.parse((await site.call('GET', '/configuration/versions/1')).body).data;
    const record = read.record ?? '';
    expect(createHash('sha256').update(record).digest('hex')).toBe(data.sha256);
    expect(JSON.parse(record)).toMatchObject({
      v: 1,
      event_id: data.publication.event_id,
      site_id: site.tenant.siteId,
      number: 1,
      domain: 'shop.example',
      ...settings,
      banner: { en: { title: 'Choose' } },
      withdrawal: { en: 'In the footer' },
      categories: [category('analytics')],
      cookies: [cookie('_visits')],
    });
    expect(await site.draft()).toMatchObject({
      has_changes: false,
      problems: [],
      in_force: { number: 1, sha256: data.sha256 },
    });
    expect(await site.publish()).toMatchObject(WRONG_STATE);
    expect(await site.audit('configuration.publish')).toMatchObject({
      data: [
        {
          actor: { kind: 'user', user_id: site.tenant.users.admin.id },
          subject: { kind: 'configuration', id: site.tenant.siteId },
          details: { number: 1, sha256: data.sha256, publication_event_id: data.publication.event_id },
        },
      ],
    });
    expect(await site.audit('configuration.change')).toMatchObject({
      data: [
        {
          details: {
            changed: ['controller.legal_name', 'controller.contact', 'default_language', 'languages', 'validity_days'],
            revision: 1,
          },
        },
      ],
    });
  });

  it('publishes an earlier version again, and keeps a draft with changes', async () => {
    const site = await Site.make();
    const again = async (version: number) =>
      site.call('POST', '/configuration/publish', { revision: (await site.draft()).revision, version });
    const title = async (text: string) =>
      site.call('PUT', '/banner-texts/en', { texts: { title: text }, withdrawal: 'In the footer' });
    const shown = async () => (await site.draft()).banner.en?.title;
    await site.call('PUT', '/configuration', { revision: 0, ...DEMO_CONFIG, languages: ['en'] });
    await title('First');
    expect(await site.publish()).toMatchObject({ status: 201 });
    await title('Second');
    expect(await site.publish()).toMatchObject({ status: 201, body: { data: { number: 2 } } });
    // Without changes, the draft becomes the same.
    expect(await again(1)).toMatchObject({ status: 201, body: { data: { number: 3, is_in_force: true } } });
    expect([await shown(), (await site.draft()).has_changes]).toEqual(['First', false]);
    expect(await site.audit('configuration.publish')).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ details: expect.objectContaining({ version: 1 }) })]),
    });
    expect(await again(1)).toMatchObject(WRONG_STATE);
    expect(await again(9)).toMatchObject(NOT_FOUND);
    await panel.app.superuser.query('alter table site_configs disable trigger user');
    const alter = (from: string, to: string) =>
      panel.app.superuser.query(
        'update site_configs set record = replace(record, $2, $3) where site_id = $1 and number = 2',
        [site.tenant.siteId, from, to],
      );
    await alter('"number":2', '"number": 2');
    expect(await again(2)).toMatchObject(WRONG_STATE);
    await alter('"number": 2', '"number":2');
    await title('Third');
    expect(await again(2)).toMatchObject({ status: 201, body: { data: { number: 4 } } });
    expect([await shown(), (await site.draft()).has_changes]).toEqual(['Third', true]);
    const { data } = PublishedAnswer.parse((await site.call('GET', '/configuration/versions/4')).body);
    expect(parseSiteConfig(data.record ?? '').banner).toMatchObject({ en: { title: 'Second' } });
    const { revision } = await site.draft();
    expect(await site.call('POST', '/configuration/publish', { revision: revision - 1, version: 1 })).toMatchObject(
      WRONG_STATE,
    );
  });

  it('is linked to for an hour, and is served for the key of its site alone, without being cached', async () => {
    const site = await Site.make();
    expect(await site.call('POST', '/configuration/draft-link')).toMatchObject(WRONG_STATE);
    const accounts = { person_space: 'Shops' };
    await site.call('PUT', '/configuration', { revision: 0, ...DEMO_CONFIG, accounts });
    const made = await site.call('POST', '/configuration/draft-link');
    const { data } = z.object({ data: DraftLink }).parse(made.body);
    const [, token = ''] = /^https:\/\/shop\.example\/#consent-draft=(.+)$/.exec(data.url) ?? [];
    expect(Date.parse(data.expires_at) - Date.now()).toBeLessThanOrEqual(3_600_000);
    expect(await site.audit('configuration.link_draft')).toMatchObject({
      data: [{ details: { expires_at: data.expires_at } }],
    });
    const keyOf = async ({ tenant }: Site) =>
      (await createApiKey(panel.app.service.installation.adminPool, tenant.siteId, 'read')).key;
    const asked = async (of: Site, text: string) =>
      get(panel.app, `/tool/v1/config?language=en&draft=${encodeURIComponent(text)}`, await keyOf(of));
    // Nothing is published: without the token, there is no configuration.
    expect(await get(panel.app, '/tool/v1/config', await keyOf(site))).toMatchObject({ status: 409 });
    const served = await asked(site, token);
    expect(served).toMatchObject({ status: 200, body: { data: { banner: DEMO_CONFIG.banner.en, accounts } } });
    expect(served.headers.get('cache-control')).toBe('no-store');
    expect(ConfigResponse.parse(served.body).data.site_config_hash).toMatch(/^[0-9a-f]{64}$/);
    const refused = (message: string) => ({ status: 422, body: { errors: [{ field: 'draft', message }] } });
    const foreign = refused('this is not a link to a draft of this site');
    expect(await asked(await Site.make(), token)).toMatchObject(foreign);
    for (const altered of [`z${token}`, token.slice(0, -1), token.replace('.', 'x.'), ''])
      expect(await asked(site, altered), altered).toMatchObject(foreign);
    const siteKey = await panel.app.service.installation.keyring.siteKey(site.tenant.siteId);
    const { token: late } = newDraftToken(siteKey, Date.now() - DRAFT_LINK_SECONDS * 1000);
    expect(await asked(site, late)).toMatchObject(refused('the link has expired; make a new one in the dashboard'));
  });

  it('lists every text that is missing in a language of the site', async () => {
    const site = await Site.make();
    const { validity_days, controller, ...texts } = DEMO_CONFIG;
    const body = { revision: 0, controller, validity_days, ...texts, languages: ['en', 'tr', 'de'] };
    expect(await site.call('PUT', '/configuration', body)).toMatchObject({ status: 200 });
    const answer = await site.publish();
    const { errors } = z.object({ errors: z.array(z.object({ field: z.string() })) }).parse(answer.body);
    expect(errors.map(({ field }) => field)).toEqual([
      ...['accept', 'reject', 'text', 'title'].map((name) => `banner.de.${name}`),
      'withdrawal.de',
      ...['necessary', 'analytics', 'marketing'].flatMap((key) => [
        `categories.${key}.title.de`,
        `categories.${key}.purpose.de`,
      ]),
      ...['shop_session', '_visits', '_ads_*'].map((name) => `cookies.${name}.purpose.de`),
    ]);
    expect(answer.status).toBe(422);
    await site.call('PATCH', '/configuration', { revision: 1, languages: ['tr'], default_language: 'en' });
    expect((await site.draft()).problems).toEqual([
      { field: 'default_language', message: 'must be one of languages, not en' },
    ]);
    await site.call('PATCH', '/configuration', { revision: 2, default_language: 'tr' });
    const { data } = PublishedAnswer.parse((await site.publish()).body);
    const { record } = PublishedAnswer.parse(
      (await site.call('GET', `/configuration/versions/${data.number}`)).body,
    ).data;
    const published = parseSiteConfig(record ?? '');
    expect([Object.keys(published.banner), Object.keys(published.cookies[0]?.purpose ?? {})]).toEqual([['tr'], ['tr']]);
  });

  it('refuses texts in which a gap of a template is not filled in', async () => {
    const site = await Site.make();
    const withdrawal = { ...DEMO_CONFIG.withdrawal, en: 'Write to [[contact: address]].' };
    expect(await site.call('PUT', '/configuration', { revision: 0, ...DEMO_CONFIG, withdrawal })).toMatchObject({
      status: 200,
    });
    expect(await site.publish()).toMatchObject({
      status: 422,
      body: {
        code: 'VALIDATION_ERROR',
        errors: [{ field: 'withdrawal.en', message: 'has gaps that are not filled in: [[contact: address]]' }],
      },
    });
  });

  it('refuses a change that was made to another revision, and loses none of those made at once', async () => {
    const site = await Site.make();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => site.call('PATCH', '/configuration', { revision: 0, validity_days: n + 1 })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    await Promise.all(Array.from({ length: 6 }, (_, n) => site.call('POST', '/categories', category(`c${n}`))));
    const draft = await site.draft();
    expect(draft.revision).toBe(7);
    expect(draft.categories.map(({ key }) => key).sort()).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5']);
    const { revision } = draft;
    const stale = revision - 1;
    for (const [method, path, body] of [
      ['PUT', '/configuration', { ...withoutState(draft), revision: stale }],
      ['PUT', '/banner-texts/en', { texts: {}, withdrawal: null, revision: stale }],
      ['POST', '/categories', { ...category('x'), revision: stale }],
      ['PATCH', '/categories/c0', { required: true, revision: stale }],
      ['DELETE', `/categories/c0?revision=${stale}`],
      ['POST', '/cookies', { ...cookie('x', { category: 'c0' }), revision: stale }],
      ['POST', '/configuration/publish', { revision: stale }],
    ] as const) {
      expect(await site.call(method, path, body), `${method} ${path}`).toMatchObject(WRONG_STATE);
    }
    expect(await site.call('POST', '/configuration/publish', {})).toMatchObject({ status: 422 });
    expect((await site.draft()).revision).toBe(revision);
  });

  const withoutState = ({ changed_at, problems, has_changes, in_force, cookies, ...content }: ConfigurationDraft) => ({
    ...content,
    cookies: cookies.map(({ id, ...rest }) => rest),
  });

  it('has texts by any name of the site’s, also those that every object inherits, but none that objects lose', async () => {
    const site = await Site.make();
    await site.call('PATCH', '/configuration', { revision: 0, languages: ['en', 'tr'] });
    const texts = { constructor: 'C', toString: 'T', hasOwnProperty: 'H' };
    expect(await site.call('PUT', '/banner-texts/en', { texts, withdrawal: null })).toMatchObject({
      status: 200,
      body: { data: { texts } },
    });
    const { problems } = await site.draft();
    const missing = problems.map(({ field }) => field).filter((field) => field.startsWith('banner.'));
    expect(missing).toEqual(['banner.tr.constructor', 'banner.tr.hasOwnProperty', 'banner.tr.toString']);
    const lost: unknown = JSON.parse('{"title":"T","__proto__":"P"}');
    expect(await site.call('PUT', '/banner-texts/tr', { texts: lost, withdrawal: null })).toMatchObject({
      status: 400,
      body: { code: 'MALFORMED_JSON' },
    });
    expect(await site.call('POST', '/categories', category('__proto__'))).toMatchObject({
      status: 422,
      body: { code: 'VALIDATION_ERROR' },
    });
    const whole = { ...DEMO_CONFIG, categories: [category('__proto__')], cookies: [] };
    expect(await site.call('PUT', '/configuration', { revision: 2, ...whole })).toMatchObject({ status: 422 });
    expect(await site.call('POST', '/categories', category('constructor'))).toMatchObject({ status: 201 });
  });

  it('with a key that consents would lose is not published, but mended, where it was stored before', async () => {
    const site = await Site.make();
    const whole = { ...DEMO_CONFIG, categories: [category('harmless')], cookies: [] };
    const titled = whole.categories.map((one) => ({
      ...one,
      title: { en: 'T', tr: 'T' },
      purpose: { en: 'P', tr: 'P' },
    }));
    await site.call('PUT', '/configuration', { revision: 0, ...whole, categories: titled });
    await panel.app.superuser.query(
      'update site_config_drafts set content = replace(content::text, \'"harmless"\', \'"__proto__"\')::jsonb where site_id = $1',
      [site.tenant.siteId],
    );
    expect(await site.publish()).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'categories.__proto__' }] },
    });
    expect(await site.call('DELETE', '/categories/__proto__')).toMatchObject({ status: 200 });
    expect((await site.publish()).status).toBe(201);
  });

  it('is not published while the domain is not verified', async () => {
    const site = await Site.make();
    await site.call('PUT', '/configuration', { revision: 0, ...DEMO_CONFIG });
    const { siteId, users } = site.tenant;
    const { adminPool } = panel.app.service.installation;
    await panel.as(users.admin, 'PATCH', `/sites/${siteId}`, { domain: 'somebody-else.example' });
    expect(await site.publish()).toMatchObject(WRONG_STATE);
    await expect(publishSiteConfig(adminPool, siteId, DEMO_CONFIG)).rejects.toThrow('verify the domain');
    const { rows } = await panel.app.superuser.query('select from site_configs where site_id = $1', [siteId]);
    expect(rows).toEqual([]);
    await verifySite(adminPool, siteId, null);
    expect(await site.publish()).toMatchObject({ status: 201, body: { data: { number: 1 } } });
  });

  it('is written anew as a whole, and cookies keep their ids', async () => {
    const site = await Site.make();
    await site.call('PUT', '/configuration', { revision: 0, ...DEMO_CONFIG });
    const before = await site.draft();
    const { cookies } = withoutState(before);
    const again = { ...withoutState(before), cookies: [...cookies].reverse() };
    expect(await site.call('PUT', '/configuration', again)).toMatchObject({ status: 200 });
    const after = await site.draft();
    expect(after.cookies).toEqual([...before.cookies].reverse());
    for (const wrong of [
      { cookies: [...cookies, cookies[0]] },
      { cookies: [{ ...cookies[0], category: 'nowhere' }] },
      { categories: [...before.categories, before.categories[0]] },
      { languages: ['en', 'en'] },
      { languages: ['not a language'] },
      { cookies: [{ ...cookies[0], name: 'with space' }] },
      { surprise: true },
    ]) {
      const answer = await site.call('PUT', '/configuration', { ...again, revision: after.revision, ...wrong });
      expect(answer, JSON.stringify(wrong).slice(0, 60)).toMatchObject({
        status: 422,
        body: { code: 'VALIDATION_ERROR' },
      });
    }
    const large = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`t${n}`, 'x'.repeat(9_900)]));
    expect(await site.call('PUT', '/banner-texts/en', { texts: large, withdrawal: null })).toMatchObject({
      status: 422,
    });
  });
});

describe('categories, cookies and banner texts', () => {
  it('are listed page by page, read, changed and removed', async () => {
    const site = await Site.make();
    for (const key of ['marketing', 'analytics', 'necessary']) await site.call('POST', '/categories', category(key));
    expect(await site.call('POST', '/categories', { ...category('first'), position: 0 })).toMatchObject({
      status: 201,
      body: { data: { key: 'first', position: 0 }, revision: 4 },
    });
    expect((await site.draft()).categories.map(({ key }) => key)).toEqual([
      'first',
      'marketing',
      'analytics',
      'necessary',
    ]);
    expect(await site.call('POST', '/categories', category('first'))).toMatchObject({
      status: 409,
      body: { code: 'ALREADY_EXISTS' },
    });
    const changed = await site.call('PATCH', '/categories/first', { position: 3, retention_days: 5 });
    expect(changed).toMatchObject({ status: 200, body: { data: { position: 3, retention_days: 5, required: false } } });
    expect(await site.audit('category.change')).toMatchObject({
      data: [
        {
          subject: { kind: 'category', id: 'first' },
          details: { changed: ['retention_days', 'position'], revision: 5 },
        },
      ],
    });
    const keys: string[] = [];
    let query = '?limit=3';
    for (;;) {
      const { body } = await site.call('GET', `/categories${query}`);
      const page = z
        .object({ data: z.array(z.object({ key: z.string() })), next_cursor: z.string().nullable(), revision: z.int() })
        .parse(body);
      keys.push(...page.data.map(({ key }) => key));
      if (page.next_cursor === null) break;
      query = `?limit=3&cursor=${page.next_cursor}`;
    }
    expect(keys).toEqual(['analytics', 'first', 'marketing', 'necessary']);
    expect(await site.call('GET', '/categories/nowhere')).toMatchObject(NOT_FOUND);
    expect(await site.call('PATCH', '/categories/nowhere', {})).toMatchObject(NOT_FOUND);

    const made = await site.call('POST', '/cookies', cookie('_b'));
    const { data: b } = CookieAnswer.parse(made.body);
    expect(made.status).toBe(201);
    await site.call(
      'POST',
      '/cookies',
      cookie('_a', { category: 'marketing', party: 'third', duration_seconds: null }),
    );
    expect((await site.call('GET', '/cookies')).body).toMatchObject({
      data: [{ name: '_a' }, { name: '_b' }],
      next_cursor: null,
    });
    expect((await site.call('GET', '/cookies?category=analytics')).body).toMatchObject({ data: [{ id: b.id }] });
    expect(await site.call('POST', '/cookies', cookie('_b'))).toMatchObject({
      status: 409,
      body: { code: 'ALREADY_EXISTS' },
    });
    expect(await site.call('POST', '/cookies', cookie('_c', { category: 'nowhere' }))).toMatchObject({ status: 422 });
    expect(await site.call('PATCH', `/cookies/${b.id}`, { category: 'nowhere' })).toMatchObject({ status: 422 });
    expect(await site.call('PATCH', `/cookies/${b.id}`, { name: '_a' })).toMatchObject({ status: 409 });
    expect(await site.call('PATCH', `/cookies/${b.id}`, { name: '_b', duration_seconds: null })).toMatchObject({
      status: 200,
      body: { data: { id: b.id, name: '_b', duration_seconds: null, purpose: { en: 'Counts' } } },
    });
    expect(await site.call('DELETE', '/categories/analytics')).toMatchObject(WRONG_STATE);
    expect(await site.call('DELETE', `/cookies/${b.id}`)).toMatchObject({ status: 200, body: { data: { id: b.id } } });
    expect(await site.call('GET', `/cookies/${b.id}`)).toMatchObject(NOT_FOUND);
    expect(await site.call('DELETE', '/categories/analytics')).toMatchObject({
      status: 200,
      body: { data: { key: 'analytics' } },
    });
    expect(await site.audit('cookie.delete')).toMatchObject({
      data: [
        {
          subject: { kind: 'cookie', id: b.id },
          details: { name: '_b', provider: 'Shop Ltd.', category: 'analytics' },
        },
      ],
    });

    const texts = { texts: { title: 'Wählen' }, withdrawal: 'Unten' };
    expect(await site.call('PUT', '/banner-texts/de', texts)).toMatchObject({
      status: 200,
      body: { data: { language: 'de', ...texts } },
    });
    await site.call('PATCH', '/configuration', { revision: (await site.draft()).revision, languages: ['de', 'en'] });
    expect((await site.call('GET', '/banner-texts')).body).toMatchObject({
      data: [
        { language: 'de', ...texts },
        { language: 'en', texts: {}, withdrawal: null },
      ],
    });
    expect(await site.call('DELETE', '/banner-texts/de')).toMatchObject({ status: 200, body: { data: texts } });
    expect(await site.call('GET', '/banner-texts/de')).toMatchObject({
      body: { data: { texts: {}, withdrawal: null } },
    });
    expect(await site.call('GET', '/banner-texts/fr')).toMatchObject(NOT_FOUND);
  });
});

describe('published configurations', () => {
  it('have numbers without gaps, however many are published at once, and one is in force', async () => {
    const site = await Site.make();
    const { adminPool } = panel.app.service.installation;
    await publishSiteConfig(adminPool, site.tenant.siteId, DEMO_CONFIG);
    const { revision } = await site.draft();
    await site.call('PATCH', '/configuration', { revision, validity_days: 1 });
    const answers = await Promise.all([
      ...Array.from({ length: 3 }, () => site.call('POST', '/configuration/publish', { revision: revision + 1 })),
      ...[10, 11, 12].map((validity_days) =>
        publishSiteConfig(adminPool, site.tenant.siteId, { ...DEMO_CONFIG, validity_days }),
      ),
    ]);
    const made = answers.filter((answer) => !('status' in answer) || answer.status === 201);
    // One of the three requests for the same draft publishes it, or none if another configuration was
    // published first.
    expect([3, 4]).toContain(made.length);
    const { data } = VersionList.parse((await site.call('GET', '/configuration/versions')).body);
    expect(data.map(({ number }) => number)).toEqual(
      Array.from({ length: made.length + 1 }, (_, n) => made.length + 1 - n),
    );
    expect(data.map(({ is_in_force }) => is_in_force)).toEqual(data.map((_, index) => index === 0));
    expect(new Set(data.map(({ sha256 }) => sha256)).size).toBe(data.length);
    const first = VersionList.parse((await site.call('GET', '/configuration/versions?limit=2')).body);
    const rest = VersionList.parse(
      (await site.call('GET', `/configuration/versions?cursor=${first.next_cursor}`)).body,
    );
    expect([...first.data, ...rest.data].map(({ number }) => number)).toEqual(data.map(({ number }) => number));
    await expect
      .poll(
        async () =>
          VersionList.parse((await site.call('GET', '/configuration/versions')).body).data.every(
            ({ publication }) => publication.stamped !== null,
          ),
        { interval: 500 },
      )
      .toBe(true);
  });

  it('without cookies are served and shown as they are, and followed by one with a cookie', async () => {
    const site = await Site.make();
    const { siteId } = site.tenant;
    const config = { ...DEMO_CONFIG, cookies: [] };
    const head = { v: 1, event_id: randomUUID(), site_id: siteId, created_at: new Date().toISOString() };
    const record = canonicalJson({ ...head, number: 1, domain: 'shop.example', ...config });
    const sha256 = createHash('sha256').update(record).digest('hex');
    await panel.app.superuser.query(
      `insert into site_configs (sha256, site_id, number, event_id, record, published_at) values ($1, $2, 1, $3, $4, now())`,
      [sha256, siteId, head.event_id, record],
    );
    await panel.app.change(
      'update sites set site_config_hash = $1, config_revision = config_revision + 1, verified_at = now() where id = $2',
      [sha256, siteId],
    );
    const { key } = await createApiKey(panel.app.service.installation.adminPool, siteId, 'read');
    const served = await get(panel.app, '/tool/v1/config', key);
    const { data } = ConfigResponse.parse(served.body);
    expect(data.site_config_hash).toBe(sha256);
    expect(data.categories.map((one) => one.cookies)).toEqual([[], [], []]);
    expect(await site.draft()).toMatchObject({
      revision: 0,
      has_changes: false,
      cookies: [],
      in_force: { number: 1, sha256 },
    });
    expect((await site.call('GET', '/configuration/versions/1')).body).toMatchObject({ data: { record, sha256 } });
    await site.call('POST', '/cookies', cookie('_visits', { purpose: { en: 'Counts', tr: 'Sayar' } }));
    expect(await site.publish()).toMatchObject({ status: 201, body: { data: { number: 2 } } });
    await expect
      .poll(
        async () => Object(Object((await get(panel.app, '/tool/v1/config', key)).body).data).categories?.[1]?.cookies,
      )
      .toMatchObject([{ name: '_visits' }]);
  });

  it('cannot be changed by the role that the panel works in', async () => {
    const site = await Site.make();
    const { adminPool } = panel.app.service.installation;
    const { sha256 } = await publishSiteConfig(adminPool, site.tenant.siteId, DEMO_CONFIG);
    for (const statement of [
      `update site_configs set record = replace(record, 'Shop', 'Shap') where sha256 = $1`,
      'update site_configs set number = 9 where sha256 = $1',
      'delete from site_configs where sha256 = $1',
    ]) {
      await expect(adminPool.query(statement, [sha256]), statement).rejects.toThrow(/permission denied/);
    }
  });

  it('of others, and drafts of others, are unknown', async () => {
    const site = await Site.make();
    const { siteId } = site.tenant;
    await site.call('PUT', '/configuration', { revision: 0, ...DEMO_CONFIG });
    await site.publish();
    const [{ id } = { id: '' }] = (await site.draft()).cookies;
    const { own } = panel;
    const unknown = { status: 404, body: { code: 'SITE_NOT_FOUND' } };
    for (const [method, path, body] of [
      ['GET', '/configuration'],
      ['PUT', '/configuration', { revision: 1, ...DEMO_CONFIG }],
      ['PATCH', '/configuration', { revision: 1, validity_days: 1 }],
      ['POST', '/configuration/publish', { revision: 1 }],
      ['GET', '/configuration/versions'],
      ['GET', '/configuration/versions/1'],
      ['GET', '/categories'],
      ['POST', '/categories', category('x')],
      ['GET', '/categories/analytics'],
      ['PATCH', '/categories/analytics', { required: true }],
      ['DELETE', '/categories/analytics'],
      ['GET', '/cookies'],
      ['POST', '/cookies', cookie('x')],
      ['GET', `/cookies/${id}`],
      ['PATCH', `/cookies/${id}`, { name: 'x' }],
      ['DELETE', `/cookies/${id}`],
      ['GET', '/banner-texts'],
      ['PUT', '/banner-texts/en', { texts: {}, withdrawal: null }],
      ['DELETE', '/banner-texts/en'],
    ] as const) {
      expect(await panel.as(own.users.owner, method, `/sites/${siteId}${path}`, body), path).toMatchObject(unknown);
    }
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { name: 'x' } : undefined;
      expect(await panel.as(own.users.owner, method, `/sites/${own.siteId}/cookies/${id}`, body)).toMatchObject(
        NOT_FOUND,
      );
    }
    expect(await panel.as(own.users.owner, 'GET', `/sites/${own.siteId}/cookies/${randomUUID()}`)).toMatchObject(
      NOT_FOUND,
    );
    expect(await panel.as(own.users.owner, 'GET', `/sites/${own.siteId}/configuration/versions/1`)).toMatchObject(
      NOT_FOUND,
    );
    expect(await site.draft()).toMatchObject({ revision: 1 });
  });
});
