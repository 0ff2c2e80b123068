import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DocumentAttachment, DocumentVersion, PanelDocument } from '../../../schemas/api/panel/documents.js';
import { EvidenceExportAnswer } from '../../../schemas/api/panel/exports.js';
import type { Role } from '../../../src/accounts/users/user-directory.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { publishSiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { attachDocument, MAX_ATTACHED_SITES } from '../../../src/tenancy/documents/attach-document.js';
import { createSite } from '../../../src/tenancy/sites/sites.js';
import { type ExportWorld, startExportWorld } from '../../evidence/exports/export-world.js';
import { postSigned, signedHeaders } from '../../support/signed-requests.js';
import type { Answer } from '../server/running-app.js';

const DocumentAnswer = z.object({ data: PanelDocument });
const VersionAnswer = z.object({ data: DocumentVersion });
const AttachmentAnswer = z.object({ data: DocumentAttachment });
const Config = z.object({
  data: z.object({
    documents: z.array(
      z.object({
        id: z.string(),
        slug: z.string(),
        version: z.object({ id: z.string(), number: z.int(), content_sha256: z.string() }),
      }),
    ),
  }),
});
const Accepted = z.object({ data: z.object({ consent_token: z.string() }) });
const Refused = z.object({ code: z.string() });
const Minted = z.object({ data: z.object({ approval_token: z.string(), document_id: z.string() }) });
const Report = z.looseObject({
  texts: z.object({
    first: z.array(z.object({ document_version_id: z.string(), outcome: z.string(), source: z.string().nullable() })),
  }),
});

interface Site {
  readonly id: string;
  readonly key: string;
}

let world: ExportWorld;
let home: Site;
beforeAll(async () => {
  world = await startExportWorld();
  home = { id: world.siteId, key: world.demo.keys.write };
});
afterAll(() => world.stop());

const as = (role: Role, method: string, path: string, body?: unknown): Promise<Answer> =>
  world.panel.as(world.user(role), method, path, body);
const admin = () => world.panel.app.service.installation.adminPool;
const bareSite = (tenantId = world.demo.tenant_id) =>
  createSite(admin(), {
    tenantId,
    name: 'Outlet',
    domain: `outlet-${randomUUID()}.example`,
    isVerified: true,
    allowedOrigins: [],
    allowedIps: [],
  });
const makeSite = async (): Promise<Site> => {
  const { id } = await bareSite();
  await publishSiteConfig(admin(), id, DEMO_CONFIG, { forAnyDomain: true });
  return { id, key: (await createApiKey(admin(), id, 'write')).key };
};
const documents = (site: Pick<Site, 'id'>): string => `/sites/${site.id}/documents`;
const makeDocument = async (members: object = {}, site: Pick<Site, 'id'> = home): Promise<PanelDocument> => {
  const answer = await as('owner', 'POST', documents(site), {
    slug: `d-${randomUUID()}`,
    kind: 'cookie_policy',
    ...members,
  });
  expect(answer.status).toBe(201);
  return DocumentAnswer.parse(answer.body).data;
};
const draft = async (document: PanelDocument, content: string): Promise<DocumentVersion> => {
  const body = { language: 'en', title: 'Policy', media_type: 'text/plain', content };
  const answer = await as('owner', 'POST', `${documents(home)}/${document.id}/versions`, body);
  return VersionAnswer.parse(answer.body).data;
};
const step = async (document: PanelDocument, { id }: DocumentVersion, verb: string): Promise<void> => {
  const answer = await as('owner', 'POST', `${documents(home)}/${document.id}/versions/${id}/${verb}`);
  expect(answer, verb).toMatchObject({ status: 200 });
};
const activeVersion = async (document: PanelDocument, content: string): Promise<DocumentVersion> => {
  const version = await draft(document, content);
  await step(document, version, 'publish');
  await step(document, version, 'activate');
  return version;
};
const attachments = (document: PanelDocument, more = '', site: Pick<Site, 'id'> = home): string =>
  `${documents(site)}/${document.id}/attachments${more}`;
const attach = async (document: PanelDocument, site: Pick<Site, 'id'>): Promise<DocumentAttachment> => {
  const answer = await as('owner', 'PUT', attachments(document, `/${site.id}`));
  expect(answer).toMatchObject({ status: 200 });
  return AttachmentAnswer.parse(answer.body).data;
};
const attachDocumentAsService = (document: PanelDocument, siteId: string) =>
  attachDocument(admin(), home.id, document.id, siteId);
const detach = (document: PanelDocument, site: Pick<Site, 'id'>): Promise<Answer> =>
  as('owner', 'DELETE', attachments(document, `/${site.id}`));

/** The document as the site's own configuration shows it. */
const shownAt = async (site: Site, { slug }: PanelDocument) => {
  const answer = await fetch(`${world.panel.app.url}/tool/v1/config?language=en`, {
    headers: { 'x-api-key': site.key },
  });
  return Config.parse(await answer.json()).data.documents.find((one) => one.slug === slug);
};
const consent = async (site: Site, versionId: string, fields: object = {}): Promise<string> => {
  const body = {
    consent_type: 'cookie',
    decision: 'accepted',
    document_version_id: versionId,
    visitor_id: 'ann',
    ...fields,
  };
  const answer = await postSigned(world.panel.app.url, site.key, '/tool/v1/consents', body);
  const found: unknown = await answer.json();
  return answer.status === 202 ? Accepted.parse(found).data.consent_token : Refused.parse(found).code;
};
const isSettled = async (): Promise<boolean> => {
  const { rows } = await world.panel.app.superuser.query(
    `select (select count(*) from event_log.waiting) + (select count(*) from event_log.log e
       where (e.stream like 'consents-%' or e.stream like 'notices-%') and not exists (
         select from leaves l join checkpoints c on c.size > l.batch where l.stream = e.stream and l.revision = e.revision)) as open`,
  );
  return Number(rows[0]?.open) === 0;
};
/** Exports a whole site, and checks the package as a third party does. */
const checked = async (site: Pick<Site, 'id'>) => {
  while (!(await isSettled())) await sleep(100);
  const path = `/sites/${site.id}/exports`;
  const shown = async (answer: Answer) => EvidenceExportAnswer.pick({ data: true }).parse(answer.body).data;
  const made = z.object({ data: z.object({ id: z.string() }) }).parse((await as('dpo', 'POST', path, {})).body).data;
  while ((await shown(await as('dpo', 'GET', `${path}/${made.id}`))).state !== 'finished') await sleep(300);
  const answer = await fetch(`${world.panel.app.url}/api/v1${path}/${made.id}/package`, {
    headers: { authorization: `Bearer ${world.user('dpo').accessToken}` },
  });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const { status, stdout } = world.verify(bytes);
  return { status, texts: Report.parse(JSON.parse(stdout)).texts.first, stdout };
};

describe('a document that is attached to a second site', () => {
  it('is consented to at both sites, and the evidence of each encloses its text', async () => {
    const document = await makeDocument();
    const version = await activeVersion(document, 'one text for two sites');
    const outlet = await makeSite();
    const attached = await attach(document, outlet);
    const [active] = attached.active_versions;
    expect(active).toMatchObject({ language: 'en', number: 1 });
    expect(active?.id).not.toBe(version.id);
    await expect
      .poll(() => shownAt(outlet, document))
      .toMatchObject({
        id: document.id,
        version: { id: active?.id, number: 1, content_sha256: version.content_sha256 },
      });
    expect(await consent(home, version.id)).toMatch(/^ct_/);
    expect(await consent(outlet, active?.id ?? '')).toMatch(/^ct_/);
    expect(await consent(outlet, version.id)).toBe('CONFIG_OUTDATED');
    for (const [site, id] of [
      [home, version.id],
      [outlet, active?.id],
    ] as const) {
      const { status, texts, stdout } = await checked(site);
      expect(status, stdout).toBe(0);
      expect(texts).toContainEqual(
        expect.objectContaining({ document_version_id: id, outcome: 'pass', source: 'one text for two sites' }),
      );
    }
  });

  it('follows every version of its home site, with the same numbers', async () => {
    const document = await makeDocument();
    const first = await activeVersion(document, 'first');
    const outlet = await makeSite();
    await attach(document, outlet);
    const second = await draft(document, 'second');
    await step(document, second, 'publish');
    const statesAt = async (site: Pick<Site, 'id'>) => {
      const { body } = await as('viewer', 'GET', `${documents(site)}/${document.id}/versions`);
      return z
        .object({ data: z.array(DocumentVersion) })
        .parse(body)
        .data.map(({ number, state }) => [number, state]);
    };
    expect(await statesAt(outlet)).toEqual([
      [1, 'active'],
      [2, 'published'],
    ]);
    await step(document, second, 'activate');
    expect(await statesAt(outlet)).toEqual(await statesAt(home));
    const third = await draft(document, 'third');
    expect(await statesAt(outlet)).toEqual([
      [1, 'retired'],
      [2, 'active'],
    ]);
    await step(document, second, 'retire');
    await step(document, third, 'publish');
    await step(document, third, 'activate');
    expect(await statesAt(outlet)).toEqual([
      [1, 'retired'],
      [2, 'retired'],
      [3, 'active'],
    ]);
    expect(await statesAt(home)).toEqual(await statesAt(outlet));
    const { body } = await as('dpo', 'GET', `${documents(outlet)}/${document.id}/versions?state=active`);
    expect(body).toMatchObject({ data: [{ home_version_id: third.id, content_sha256: expect.any(String) }] });
    const audited = async ({ id }: DocumentVersion) => (await as('owner', 'GET', `/audit-log?subject_id=${id}`)).body;
    const atOutlet = (action: string) => ({ action, details: { site_id: home.id, attached_site_ids: [outlet.id] } });
    expect(await audited(second)).toMatchObject({
      data: [
        atOutlet('document_version.retire'),
        atOutlet('document_version.activate'),
        atOutlet('document_version.publish'),
        { action: 'document_version.create' },
      ],
    });
    const { version } = (await shownAt(outlet, document)) ?? { version: { id: '' } };
    expect(await consent(outlet, version.id)).toMatch(/^ct_/);
    const own = await as('dpo', 'GET', `${documents(home)}/${document.id}/versions/${first.id}`);
    expect(own).toMatchObject({ body: { data: { home_version_id: null } } });
    const shown = await checked(outlet);
    expect(shown.status, shown.stdout).toBe(0);
  });

  it('gets no new consents at a site after it is detached, and the earlier ones remain verifiable', async () => {
    const document = await makeDocument();
    const version = await activeVersion(document, 'a text for a while');
    const outlet = await makeSite();
    const [before] = (await attach(document, outlet)).active_versions;
    const id = before?.id ?? '';
    await expect.poll(() => consent(outlet, id)).toMatch(/^ct_/);
    expect(await detach(document, outlet)).toMatchObject({
      status: 200,
      body: { data: { site_id: outlet.id, active_versions: [{ id }] } },
    });
    expect(await consent(outlet, id)).toBe('CONFIG_OUTDATED');
    expect(await shownAt(outlet, document)).toBeUndefined();
    expect(await consent(home, version.id)).toMatch(/^ct_/);
    expect(await detach(document, outlet)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
    const text = { document_version_id: id, outcome: 'pass', source: 'a text for a while' };
    const detached = await checked(outlet);
    expect(detached.status, detached.stdout).toBe(0);
    expect(detached.texts).toContainEqual(expect.objectContaining(text));
    // Searches by the document still find the earlier consents.
    const search = `/sites/${outlet.id}/consents?document_slug=${document.slug}`;
    await expect
      .poll(() => as('dpo', 'GET', search))
      .toMatchObject({ body: { data: [{ document_slug: document.slug, record: { document_version_id: id } }] } });
    const status = `/tool/v1/consents/status?visitor_id=ann&document_slug=${document.slug}`;
    const inForce = await fetch(world.panel.app.url + status, { headers: { 'x-api-key': outlet.key } });
    expect(await inForce.json()).toMatchObject({ data: { consents: [{ document_version_id: id }] } });
    // The evidence of the site stays readable in its panel.
    const path = `${documents(outlet)}/${document.id}`;
    expect(await as('dpo', 'GET', `${path}/versions/${id}`)).toMatchObject({ body: { data: { state: 'retired' } } });
    expect(await as('dpo', 'GET', path)).toMatchObject({ body: { data: { active_versions: [] } } });
    expect(await as('dpo', 'GET', documents(outlet))).toMatchObject({ body: { data: [] } });

    const [again] = (await attach(document, outlet)).active_versions;
    expect(again).toMatchObject({ number: 2 });
    expect(again?.id).not.toBe(id);
    expect(await consent(outlet, again?.id ?? '')).toMatch(/^ct_/);
    expect(await consent(outlet, id)).toBe('CONFIG_OUTDATED');
    const reattached = await checked(outlet);
    expect(reattached.status, reattached.stdout).toBe(0);
    expect(reattached.texts).toContainEqual(expect.objectContaining(text));
    expect(reattached.texts).toContainEqual(expect.objectContaining({ ...text, document_version_id: again?.id }));
  });

  it('is approved with tokens of each site', async () => {
    const document = await makeDocument({ kind: 'consent_form', requires_approval_token: true });
    const version = await activeVersion(document, 'a form');
    const outlet = await makeSite();
    const [active] = (await attach(document, outlet)).active_versions;
    const login = await world.panel.signIn(world.demo.api_user.email, world.demo.api_user.password);
    const bearer = z.object({ data: z.object({ access_token: z.string() }) }).parse(login.body).data.access_token;
    const mint = async (site: Site, fields: object): Promise<unknown> => {
      const path = '/tool/v1/s2s/approval-tokens';
      const body = JSON.stringify({ subject: 'ann', ...fields });
      const headers = { ...signedHeaders(site.key, path, body), authorization: `Bearer ${bearer}` };
      return (await fetch(world.panel.app.url + path, { method: 'POST', headers, body })).json();
    };
    const approve = async (site: Site, id: string, answer: unknown): Promise<string> => {
      const { approval_token } = Minted.parse(answer).data;
      return consent(site, id, { consent_type: 'document_approval', approval_token });
    };
    const id = active?.id ?? '';
    await expect.poll(() => mint(outlet, { document_slug: document.slug })).toHaveProperty('data');
    const bySlug = await mint(outlet, { document_slug: document.slug });
    expect(Minted.parse(bySlug).data.document_id).toBe(document.id);
    expect(await consent(outlet, id, { consent_type: 'document_approval' })).toBe('APPROVAL_TOKEN_REQUIRED');
    expect(await approve(outlet, id, bySlug)).toMatch(/^ct_/);
    expect(await approve(outlet, id, await mint(outlet, { document_version_id: id }))).toMatch(/^ct_/);
    expect(await mint(outlet, { document_version_id: version.id })).toMatchObject({ code: 'VERSION_NOT_FOUND' });
    // A token is for the site whose key minted it, although the document is the same.
    expect(await approve(home, version.id, await mint(outlet, { document_slug: document.slug }))).toBe(
      'APPROVAL_TOKEN_INVALID',
    );
    expect(await approve(home, version.id, await mint(home, { document_slug: document.slug }))).toMatch(/^ct_/);
  });
});

describe('attachments', () => {
  it('are listed in their order, page by page, to every role, and each change is audited', async () => {
    const document = await makeDocument();
    const sites = [await bareSite(), await bareSite(), await bareSite()];
    for (const site of sites) await attach(document, site);
    const again = await attach(document, sites[0] ?? home);
    expect(again).toMatchObject({ site_id: sites[0]?.id, site_name: 'Outlet', active_versions: [] });
    const listed = async (query: string) =>
      z
        .object({ data: z.array(DocumentAttachment), next_cursor: z.string().nullable() })
        .parse((await as('dpo', 'GET', attachments(document, query))).body);
    const page = await listed('?limit=2');
    const rest = await listed(`?limit=2&cursor=${page.next_cursor}`);
    expect([...page.data, ...rest.data].map(({ site_id }) => site_id)).toEqual(sites.map(({ id }) => id));
    expect(rest.next_cursor).toBeNull();
    expect(await as('viewer', 'PUT', attachments(document, `/${sites[0]?.id}`))).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_ROLE' },
    });
    expect(await as('dpo', 'DELETE', attachments(document, `/${sites[0]?.id}`))).toMatchObject({ status: 403 });
    expect(await as('dpo', 'GET', documents(sites[1] ?? home))).toMatchObject({
      body: { data: [{ id: document.id, home_site_id: home.id }] },
    });
    expect(await detach(document, sites[0] ?? home)).toMatchObject({ status: 200 });
    expect((await listed('')).data.map(({ site_id }) => site_id)).toEqual([sites[1]?.id, sites[2]?.id]);
    const entry = (action: string, site: number, more: object = {}) => ({
      action,
      details: { site_id: home.id, slug: document.slug, attached_site_id: sites[site]?.id, ...more },
    });
    expect((await as('owner', 'GET', `/audit-log?subject_id=${document.id}`)).body).toMatchObject({
      data: [
        entry('document.detach', 0),
        entry('document.attach', 0, { changed: false }),
        entry('document.attach', 2, { changed: true }),
        entry('document.attach', 1, { changed: true }),
        entry('document.attach', 0, { changed: true }),
        { action: 'document.create' },
      ],
    });
  });

  it('keep the slugs of every site unambiguous', async () => {
    const taken = { status: 409, body: { code: 'ALREADY_EXISTS' } };
    const document = await makeDocument();
    const outlet = await bareSite();
    const own = await makeDocument({ slug: document.slug }, outlet);
    expect(await as('owner', 'PUT', attachments(document, `/${outlet.id}`))).toMatchObject(taken);
    const free = await makeDocument();
    await attach(free, outlet);
    expect(await as('owner', 'POST', documents(outlet), { slug: free.slug, kind: 'terms' })).toMatchObject(taken);
    expect(await as('owner', 'PATCH', `${documents(outlet)}/${own.id}`, { slug: free.slug })).toMatchObject(taken);
    expect(await as('owner', 'PATCH', `${documents(home)}/${free.id}`, { slug: own.slug })).toMatchObject(taken);
    const third = await makeDocument({ slug: free.slug }, await bareSite());
    const thirdPath = `/sites/${third.home_site_id}/documents/${third.id}/attachments/${outlet.id}`;
    expect(await as('owner', 'PUT', thirdPath)).toMatchObject(taken);
    expect(await detach(free, outlet)).toMatchObject({ status: 200 });
    expect(await as('owner', 'PUT', thirdPath)).toMatchObject({ status: 200 });
    expect(await as('owner', 'PUT', attachments(free, `/${outlet.id}`))).toMatchObject(taken);
  });

  it('are refused for sites of another tenant, as for unknown sites', async () => {
    const document = await makeDocument();
    const foreign = world.panel.own.siteId;
    for (const method of ['PUT', 'DELETE']) {
      const [other, unknown] = await Promise.all(
        [foreign, randomUUID()].map((id) => as('owner', method, attachments(document, `/${id}`))),
      );
      expect(other, method).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
      expect(unknown, method).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
    }
    const { rows } = await world.panel.app.superuser.query('select from document_attachments where site_id = $1', [
      foreign,
    ]);
    expect(rows).toEqual([]);
  });

  it('do not let the attached site change the document', async () => {
    const document = await makeDocument();
    await activeVersion(document, 'changed at home only');
    const outlet = await bareSite();
    const [active] = (await attach(document, outlet)).active_versions;
    const below = `${documents(outlet)}/${document.id}`;
    const text = { language: 'en', title: 'Policy', media_type: 'text/plain', content: 'other' };
    for (const [method, path, body] of [
      ['PATCH', below, { requires_approval_token: true }],
      ['POST', `${below}/versions`, text],
      ['POST', `${below}/versions/${active?.id}/publish`, {}],
      ['POST', `${below}/versions/${active?.id}/activate`, {}],
      ['POST', `${below}/versions/${active?.id}/retire`, {}],
      ['PATCH', `${below}/versions/${active?.id}`, { title: 'other' }],
      ['DELETE', `${below}/versions/${active?.id}`, undefined],
      ['PUT', `${below}/attachments/${home.id}`, undefined],
      ['DELETE', `${below}/attachments/${outlet.id}`, undefined],
      ['PUT', attachments(document, `/${home.id}`), undefined],
    ] as const) {
      const answer = await as('owner', method, path, body);
      expect(answer, `${method} ${path}`).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    }
    expect(await as('owner', 'GET', below)).toMatchObject({
      body: { data: { active_versions: [{ id: active?.id }] } },
    });
  });

  it('are limited in number, and up to the limit every site gets a new version', async () => {
    const document = await makeDocument();
    for (let attached = 0; attached < MAX_ATTACHED_SITES; attached += 1) {
      await attachDocumentAsService(document, (await bareSite()).id);
    }
    expect(await as('owner', 'PUT', attachments(document, `/${(await bareSite()).id}`))).toMatchObject({
      status: 409,
      body: { code: 'WRONG_STATE' },
    });
    await activeVersion(document, 'for every site');
    const { rows } = await world.panel.app.superuser.query(
      `select count(distinct site_id)::int as sites from document_versions where document_id = $1 and state = 'active'`,
      [document.id],
    );
    expect(rows).toEqual([{ sites: MAX_ATTACHED_SITES + 1 }]);
  });

  it('and publications that meet leave every site with the active versions of the home site', async () => {
    const document = await makeDocument();
    await activeVersion(document, 'the first of a race');
    const sites = [await makeSite(), await makeSite(), await makeSite(), await makeSite()];
    const race = async (number: number): Promise<void> => {
      await activeVersion(document, `version ${number} of a race`);
    };
    await Promise.all([race(2), race(3), race(4), ...sites.map((site) => attach(document, site))]);
    const [busy] = sites.slice(2);
    const [old] = (await attach(document, busy ?? home)).active_versions;
    const consents = Array.from({ length: 40 }, async (_, number) => {
      await sleep(number * 5);
      return consent(busy ?? home, old?.id ?? '');
    });
    await Promise.all([race(5), detach(document, sites[0] ?? home), detach(document, sites[1] ?? home), race(6)]);
    for (const recorded of await Promise.all(consents)) expect(recorded).toMatch(/^(?:ct_.*|CONFIG_OUTDATED)$/);
    const activeAt = async (site: Pick<Site, 'id'>) => {
      const { body } = await as('owner', 'GET', `${documents(site)}/${document.id}`);
      return DocumentAnswer.parse(body).data.active_versions;
    };
    const numbers = (await Promise.all([home, ...sites].map(activeAt))).map((versions) =>
      versions.map(({ number }) => number),
    );
    const [active] = numbers;
    expect(active).toHaveLength(1);
    expect(numbers).toEqual([active, [], [], active, active]);
    for (const site of sites.slice(2)) {
      const [version] = await activeAt(site);
      expect(await consent(site, version?.id ?? '')).toMatch(/^ct_/);
      const { status, stdout } = await checked(site);
      expect(status, stdout).toBe(0);
    }
  });
});
