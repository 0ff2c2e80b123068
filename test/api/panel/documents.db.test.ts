import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DocumentVersion, PanelDocument } from '../../../schemas/api/panel/documents.js';
import { until } from '../../support/wait.js';
import type { Answer } from '../server/running-app.js';
import { type PanelApp, type PanelTenant, startPanel } from './panel-fixture.js';

const DocumentAnswer = z.object({ data: PanelDocument });
const VersionAnswer = z.object({ data: DocumentVersion });
const Listed = z.object({ data: z.array(z.looseObject({ id: z.string() })), next_cursor: z.string().nullable() });

let panel: PanelApp;
beforeAll(async () => {
  panel = await startPanel('serve');
});
afterAll(() => panel.stop());

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
const root = ({ siteId }: PanelTenant): string => `/sites/${siteId}/documents`;
const call = (method: string, path: string, body?: unknown, tenant = panel.own): Promise<Answer> =>
  panel.as(tenant.users.admin, method, path, body);

const makeDocument = async (tenant = panel.own, members: object = {}): Promise<PanelDocument> => {
  const slug = `d-${randomUUID()}`;
  const answer = await call('POST', root(tenant), { slug, kind: 'terms', ...members }, tenant);
  expect(answer.status).toBe(201);
  return DocumentAnswer.parse(answer.body).data;
};
const at = (document: PanelDocument, more = '', tenant = panel.own): string =>
  `${root(tenant)}/${document.id}/versions${more}`;
const draft = async (document: PanelDocument, members: object = {}, tenant = panel.own): Promise<DocumentVersion> => {
  const body = { language: 'en', title: 'Terms', media_type: 'text/plain', content: 'Text', ...members };
  const answer = await call('POST', at(document, '', tenant), body, tenant);
  expect(answer).toMatchObject({ status: 201 });
  return VersionAnswer.parse(answer.body).data;
};
const step = async (document: PanelDocument, { id }: DocumentVersion, verb: string): Promise<DocumentVersion> => {
  const answer = await call('POST', at(document, `/${id}/${verb}`));
  expect(answer, verb).toMatchObject({ status: 200 });
  return VersionAnswer.parse(answer.body).data;
};
const published = async (document: PanelDocument, members: object = {}) =>
  step(document, await draft(document, members), 'publish');
const download = (document: PanelDocument, { id }: DocumentVersion): Promise<Response> =>
  fetch(`${panel.app.url}/api/v1${at(document, `/${id}/content`)}`, {
    headers: { authorization: `Bearer ${panel.own.users.viewer.accessToken}` },
  });
const auditOf = async (id: string): Promise<unknown> =>
  (await panel.as(panel.own.users.owner, 'GET', `/audit-log?subject_id=${id}`)).body;

describe('documents', () => {
  it('are made, read, and listed by slug, page by page, to their site only', async () => {
    const tenant = await panel.makeTenant();
    const slugs = ['c', 'a', 'b'];
    for (const slug of slugs) await makeDocument(tenant, { slug, kind: slug === 'b' ? 'cookie_policy' : 'terms' });
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const { body } = await call('GET', `${root(tenant)}?limit=2${cursor}`, undefined, tenant);
      const page = Listed.parse(body);
      seen.push(...page.data.map(({ slug }) => slug));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(['a', 'b', 'c']);
    const filtered = await call('GET', `${root(tenant)}?kind=cookie_policy`, undefined, tenant);
    expect(filtered.body).toMatchObject({ data: [{ slug: 'b' }], next_cursor: null });
    expect((await call('GET', `${root(tenant)}?slug=c`, undefined, tenant)).body).toMatchObject({
      data: [{ slug: 'c' }],
    });
    expect(await call('POST', root(tenant), { slug: 'a', kind: 'terms' }, tenant)).toMatchObject({
      status: 409,
      body: { code: 'ALREADY_EXISTS' },
    });
    expect(await call('POST', root(tenant), { slug: 'Not A Slug', kind: 'x' }, tenant)).toMatchObject({ status: 422 });
  });

  it('change as far as nothing published says otherwise', async () => {
    const other = await makeDocument();
    const document = await makeDocument();
    const path = `${root(panel.own)}/${document.id}`;
    const slug = `n-${randomUUID()}`;
    expect(await call('PATCH', path, { slug, kind: 'other', requires_approval_token: true })).toMatchObject({
      status: 200,
      body: { data: { slug, kind: 'other', requires_approval_token: true } },
    });
    expect(await call('PATCH', path, { slug: other.slug })).toMatchObject({
      status: 409,
      body: { code: 'ALREADY_EXISTS' },
    });
    expect(await call('PATCH', path, {})).toMatchObject({ status: 422 });
    const version = await published(document);
    for (const change of [{ slug: 'x' }, { kind: 'terms' }, { requires_approval_token: false }]) {
      expect(await call('PATCH', path, change), JSON.stringify(change)).toMatchObject({
        status: 409,
        body: { code: 'WRONG_STATE' },
      });
    }
    expect(await call('PATCH', path, { kind: 'other' })).toMatchObject({ status: 200 });
    await step(document, version, 'retire');
    expect(await call('PATCH', path, { requires_approval_token: false })).toMatchObject({ status: 200 });
    expect(await call('PATCH', path, { slug: 'x' })).toMatchObject({ status: 409 });
    expect(await auditOf(document.id)).toMatchObject({
      data: [
        { action: 'document.change', details: { changed: ['requires_approval_token'] } },
        { action: 'document.change', details: { changed: [] } },
        { action: 'document.change', details: { changed: ['slug', 'kind', 'requires_approval_token'] } },
        { action: 'document.create', actor: { user_id: panel.own.users.admin.id }, details: { slug: document.slug } },
      ],
    });
  });
});

describe('document versions', () => {
  it('go from draft to retired, and the log says where each publication is sealed and stamped', async () => {
    const document = await makeDocument();
    const first = await draft(document, { content: 'Eins', title: 'Draft' });
    expect(first).toMatchObject({
      number: null,
      state: 'draft',
      publication: null,
      content_sha256: sha256('Eins'),
      size: 4,
    });
    const path = at(document, `/${first.id}`);
    expect(await call('PATCH', path, { content: 'Zwei, länger', title: 'Terms' })).toMatchObject({
      status: 200,
      body: { data: { content_sha256: sha256('Zwei, länger'), title: 'Terms', size: 13 } },
    });
    const stale = await call('POST', `${path}/publish`, { content_sha256: sha256('Eins') });
    expect(stale).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    expect(await call('POST', `${path}/activate`)).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    expect(await call('POST', `${path}/retire`)).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    expect(await call('POST', `${path}/publish`, { content_sha256: sha256('Zwei, länger') })).toMatchObject({
      status: 200,
      body: { data: { number: 1, state: 'published', publication: { sealed: null, stamped: null } } },
    });
    expect(await call('POST', `${path}/publish`)).toMatchObject({ status: 409 });
    expect(await step(document, first, 'activate')).toMatchObject({ state: 'active' });
    const second = await published(document, { content: 'Drei' });
    expect(second.number).toBe(2);
    expect((await call('POST', at(document, `/${second.id}/activate`))).body).toMatchObject({
      data: { state: 'active' },
      retired_version_id: first.id,
    });
    expect(await call('GET', `${root(panel.own)}/${document.id}`)).toMatchObject({
      body: { data: { active_versions: [{ id: second.id, language: 'en', number: 2 }] } },
    });
    await step(document, second, 'retire');
    for (const verb of ['publish', 'activate']) {
      expect(await call('POST', at(document, `/${second.id}/${verb}`))).toMatchObject({ status: 409 });
    }
    const shown = await untilStamped(path);
    const { rows } = await panel.app.superuser.query('select type, stream from event_log.log where id = $1', [
      shown.publication?.event_id,
    ]);
    expect(rows).toEqual([{ type: 'DocumentVersionPublished.v1', stream: `notices-${panel.own.siteId}` }]);
    const leaf = await panel.app.superuser.query('select batch from leaves where event_id = $1', [
      shown.publication?.event_id,
    ]);
    expect(leaf.rows).toEqual([{ batch: shown.publication?.sealed?.batch }]);
    expect(shown.publication?.stamped?.checkpoint_size).toBeGreaterThan(shown.publication?.sealed?.batch ?? Infinity);
    expect(await auditOf(first.id)).toMatchObject({
      data: [
        { action: 'document_version.activate' },
        {
          action: 'document_version.publish',
          details: {
            number: 1,
            content_sha256: sha256('Zwei, länger'),
            publication_event_id: shown.publication?.event_id,
          },
        },
        {
          action: 'document_version.change',
          details: { changed: ['title', 'content'], replaced_content_sha256: sha256('Eins') },
        },
        { action: 'document_version.create', details: { document_id: document.id, content_sha256: sha256('Eins') } },
      ],
    });
  });

  const untilStamped = async (path: string): Promise<DocumentVersion> => {
    const stamped = async () => {
      const { data } = VersionAnswer.parse((await call('GET', path)).body);
      return data.publication?.stamped == null ? null : data;
    };
    return until(stamped, 300);
  };

  it('are listed by language and number, drafts last, with filters', async () => {
    const document = await makeDocument();
    const tr = await published(document, { language: 'tr' });
    const waiting = await draft(document);
    const first = await published(document, { content: '1' });
    const second = await published(document, { content: '2' });
    const wanted = [first.id, second.id, waiting.id, tr.id];
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = Listed.parse((await call('GET', at(document, `?limit=1${cursor}`))).body);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(wanted);
    const ids = async (query: string) =>
      Listed.parse((await call('GET', at(document, query))).body).data.map(({ id }) => id);
    expect(await ids('?language=tr')).toEqual([tr.id]);
    expect(await ids('?state=draft')).toEqual([waiting.id]);
    expect(await ids('?language=en&state=published')).toEqual([first.id, second.id]);
  });

  it('are downloaded as their exact bytes, which no browser shows', async () => {
    const document = await makeDocument();
    const html = '<script>alert("ş")</script>\r\n';
    const page = await draft(document, { media_type: 'text/html', content: html });
    const response = await download(document, page);
    expect(Buffer.from(await response.arrayBuffer()).toString('utf8')).toBe(html);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': `attachment; filename="${document.slug}-en-draft.html"`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
      'cache-control': 'no-store',
      'repr-digest': `sha-256=:${Buffer.from(page.content_sha256, 'hex').toString('base64')}:`,
    });
    const bytes = Buffer.from([0, 255, 13, 10, 128]);
    const pdf = await published(document, { media_type: 'application/pdf', content: bytes.toString('base64') });
    const binary = await download(document, pdf);
    expect(Buffer.from(await binary.arrayBuffer())).toEqual(bytes);
    expect(binary.headers.get('content-type')).toBe('application/pdf');
    expect(binary.headers.get('content-disposition')).toBe(`attachment; filename="${document.slug}-en-1.pdf"`);
  });

  it('accept texts up to 2 MiB, and refuse larger and malformed ones', async () => {
    const document = await makeDocument();
    const largest = '"'.repeat(2 * 1024 * 1024);
    expect((await draft(document, { content: largest })).size).toBe(largest.length);
    const body = { language: 'en', title: 'T', media_type: 'text/plain', content: 'x' };
    for (const members of [
      { content: `${largest}x` },
      { content: '' },
      { media_type: 'text/html; charset=x' },
      { media_type: 'text/html\r\nx: y' },
      { media_type: 'application/pdf', content: 'no base64!' },
      { language: 'not a language' },
      { title: '' },
      { number: 7 },
    ]) {
      const answer = await call('POST', at(document), { ...body, ...members });
      expect(answer, JSON.stringify(members).slice(0, 80)).toMatchObject({
        status: 422,
        body: { code: 'VALIDATION_ERROR' },
      });
    }
    const tooLarge = await call('POST', at(document), { ...body, content: '"'.repeat(4 * 1024 * 1024) });
    expect(tooLarge).toMatchObject({ status: 413 });
    const { id } = await draft(document);
    expect(await call('PATCH', at(document, `/${id}`), { media_type: 'text/html' })).toMatchObject({ status: 200 });
    expect(await call('PATCH', at(document, `/${id}`), { media_type: 'application/pdf' })).toMatchObject({
      status: 422,
    });
  });

  it('are dropped as drafts with their content, unless another version has the same', async () => {
    const document = await makeDocument();
    const isKept = async (text: string): Promise<boolean> =>
      (await panel.app.superuser.query('select from notice_contents where sha256 = $1', [sha256(text)])).rowCount === 1;
    const [shared, own, next] = [randomUUID(), randomUUID(), randomUUID()];
    await published(document, { content: shared });
    const twin = await draft(document, { content: shared });
    const { id } = await draft(document, { content: own });
    await call('PATCH', at(document, `/${id}`), { content: next });
    expect([await isKept(own), await isKept(next)]).toEqual([false, true]);
    for (const gone of [id, twin.id]) {
      expect(await call('DELETE', at(document, `/${gone}`))).toMatchObject({
        status: 200,
        body: { data: { id: gone } },
      });
      expect(await call('GET', at(document, `/${gone}`))).toMatchObject({ status: 404 });
    }
    expect([await isKept(next), await isKept(shared)]).toEqual([false, true]);
  });

  it('are twenty drafts of one document at most, also when made all at once', async () => {
    const document = await makeDocument();
    const make = (index: number) =>
      call('POST', at(document), { language: 'en', title: 'Terms', media_type: 'text/plain', content: `${index}` });
    const answers = await Promise.all(Array.from({ length: 24 }, (_, index) => make(index)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(4);
    for (const answer of refused) expect(answer).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    const [first] = answers.filter(({ status }) => status === 201);
    await step(document, VersionAnswer.parse(first?.body).data, 'publish');
    expect((await make(99)).status).toBe(201);
    expect((await make(100)).status).toBe(409);
  });

  it('are not published while a gap of a template is not filled in, and are published after', async () => {
    const document = await makeDocument();
    const created = await call('POST', at(document), {
      language: 'en',
      title: 'Policy of [[who: name]]',
      media_type: 'text/html',
      content: '<p>[[who: name]] keeps the data for [[periods: time]]</p>',
    });
    expect(created.status).toBe(201);
    const { id } = VersionAnswer.parse(created.body).data;
    expect(await call('POST', `${at(document)}/${id}/publish`, {})).toMatchObject({
      status: 422,
      body: {
        code: 'VALIDATION_ERROR',
        errors: [
          { field: 'title', message: 'has gaps that are not filled in: [[who: name]]' },
          { field: 'content', message: 'has gaps that are not filled in: [[who: name]], [[periods: time]]' },
        ],
      },
    });
    const filled = { title: 'Policy', content: '<p>Shop Ltd keeps the data for a year</p>' };
    expect(await call('PATCH', `${at(document)}/${id}`, filled)).toMatchObject({ status: 200 });
    expect(await call('POST', `${at(document)}/${id}/publish`, {})).toMatchObject({ status: 200 });
  });

  it('say in the audit log when they were what they should become already', async () => {
    const document = await makeDocument();
    const version = await published(document);
    for (const verb of ['activate', 'activate', 'retire', 'retire']) await step(document, version, verb);
    expect(await auditOf(version.id)).toMatchObject({
      data: [
        { action: 'document_version.retire', details: { changed: false } },
        { action: 'document_version.retire', details: { changed: true } },
        { action: 'document_version.activate', details: { changed: false } },
        { action: 'document_version.activate', details: { changed: true } },
        { action: 'document_version.publish' },
        { action: 'document_version.create' },
      ],
    });
  });

  it('get numbers without gaps, and one active version, when published and activated all at once', async () => {
    const document = await makeDocument();
    const drafts = await Promise.all(Array.from({ length: 8 }, (_, n) => draft(document, { content: `Text ${n}` })));
    const [dropped, ...kept] = drafts;
    const answers = await Promise.all([
      call('DELETE', at(document, `/${dropped?.id}`)),
      ...kept.map(({ id }) => call('POST', at(document, `/${id}/publish`))),
      // The same one twice: one of the two comes too late.
      call('POST', at(document, `/${kept[0]?.id}/publish`)),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 409]);
    await Promise.all(kept.map(({ id }) => call('POST', at(document, `/${id}/activate`))));
    const { data } = z.object({ data: z.array(DocumentVersion) }).parse((await call('GET', at(document))).body);
    expect(data.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(data.filter(({ state }) => state === 'active')).toHaveLength(1);
    const { rows } = await panel.app.superuser.query(
      `select (convert_from(data, 'UTF8')::jsonb ->> 'record')::jsonb -> 'number' as number from event_log.events
        where type = 'DocumentVersionPublished.v1' and convert_from(data, 'UTF8') like '%' || $1 || '%' order by revision`,
      [document.id],
    );
    expect(rows.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('never change once published, by no route', async () => {
    const document = await makeDocument();
    const version = await published(document);
    const path = at(document, `/${version.id}`);
    for (const state of ['published', 'active', 'retired']) {
      for (const change of [{ title: 'Another' }, { content: 'Another' }, { media_type: 'text/html' }]) {
        expect(await call('PATCH', path, change), state).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
      }
      expect(await call('DELETE', path), state).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
      expect(await call('PUT', path, {}), state).toMatchObject({ status: 405 });
      if (state !== 'retired') await step(document, version, state === 'published' ? 'activate' : 'retire');
    }
    expect(await (await download(document, version)).text()).toBe('Text');
  });

  it('never change once published, by no statement of the role that the panel works in, nor of the owner', async () => {
    const document = await makeDocument();
    const version = await published(document);
    const other = await draft(document, { content: 'Another' });
    const { adminPool } = panel.app.service.installation;
    const statements = [
      `update document_versions set content_sha256 = '${other.content_sha256}' where id = $1`,
      `update document_versions set title = 'Another' where id = $1`,
      `update document_versions set media_type = 'text/html' where id = $1`,
      `update document_versions set language = 'tr' where id = $1`,
      'update document_versions set number = 9 where id = $1',
      `update document_versions set number = null, state = 'draft' where id = $1`,
      'update document_versions set published_at = now() where id = $1',
      'update document_versions set event_id = gen_random_uuid() where id = $1',
      'update document_versions set document_id = gen_random_uuid() where id = $1',
      'update document_versions set home_version_id = id where id = $1',
      'delete from document_versions where id = $1',
      `update notice_contents set content = 'x' where sha256 = (select content_sha256 from document_versions where id = $1)`,
      'delete from notice_contents where sha256 = (select content_sha256 from document_versions where id = $1)',
    ];
    for (const statement of statements) {
      await expect(adminPool.query(statement, [version.id]), statement).rejects.toThrow(
        /permission denied|never changed|foreign key/,
      );
    }
    await expect(adminPool.query('truncate document_versions')).rejects.toThrow(/permission denied/);
    for (const statement of statements.slice(0, 11)) {
      await expect(panel.app.superuser.query(statement, [version.id]), statement).rejects.toThrow(/never changed/);
    }
    await expect(panel.app.superuser.query('truncate document_versions cascade')).rejects.toThrow(/never changed/);
    expect((await call('GET', at(document, `/${version.id}`))).body).toMatchObject({ data: { title: 'Terms' } });
  });
});

describe('isolation', () => {
  it('knows no document or version of another tenant, site or document, by no route', async () => {
    const foreign = await makeDocument(panel.foreign);
    const foreignDraft = await draft(foreign, {}, panel.foreign);
    const mine = await makeDocument();
    const sibling = await makeDocument();
    const siblingDraft = await draft(sibling);
    const verbs: readonly [string, string, unknown?][] = [
      ['GET', ''],
      ['PATCH', '', { title: 'Mine' }],
      ['DELETE', ''],
      ['GET', '/content'],
      ['POST', '/publish'],
      ['POST', '/activate'],
      ['POST', '/retire'],
    ];
    const unknown = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } };
    for (const [method, verb, body] of verbs) {
      for (const [document, version] of [
        [foreign, foreignDraft],
        [mine, foreignDraft],
        [mine, siblingDraft],
        [foreign, siblingDraft],
      ] as const) {
        expect(await call(method, at(document, `/${version.id}${verb}`), body), `${method} ${verb}`).toMatchObject(
          unknown,
        );
      }
      const elsewhere = at(foreign, `/${foreignDraft.id}${verb}`, panel.foreign);
      expect(await call(method, elsewhere, body)).toMatchObject({ status: 404, body: { code: 'SITE_NOT_FOUND' } });
    }
    expect(await call('GET', at(foreign))).toMatchObject(unknown);
    expect(await call('GET', `${root(panel.own)}/${foreign.id}`)).toMatchObject(unknown);
    expect(await call('PATCH', `${root(panel.own)}/${foreign.id}`, { kind: 'other' })).toMatchObject(unknown);
    const body = { language: 'en', title: 'T', media_type: 'text/plain', content: 'x' };
    expect(await call('POST', at(foreign), body)).toMatchObject(unknown);
    const unchanged = await call('GET', at(foreign, `/${foreignDraft.id}`, panel.foreign), undefined, panel.foreign);
    expect(VersionAnswer.parse(unchanged.body).data).toEqual(foreignDraft);
  });
});
