import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type PanelApp, startPanel } from './panel-fixture.js';

const Created = z.object({ data: z.object({ id: z.string() }) });

const CATEGORY = {
  required: false,
  title: { en: 'Statistics' },
  purpose: { en: 'To count visits' },
  lawful_basis: 'consent',
  personal_data: [],
  recipients: [],
  retention_days: 30,
};
const COOKIE = {
  name: '_visits',
  provider: 'shop.example',
  category: 'unknown',
  party: 'first',
  duration_seconds: 60,
  purpose: { en: 'Tells one visit from the next' },
};
const VERSION = { language: 'en', title: 'Terms', media_type: 'text/plain', content: 'These are the terms.' };

describe('a refused change names the invalid fields', () => {
  let panel: PanelApp;
  let versions: string;
  let draft: string;
  const ask = (method: string, path: string, body: unknown) =>
    panel.as(panel.own.users.owner, method, `/sites/${panel.own.siteId}${path}`, body);
  beforeAll(async () => {
    panel = await startPanel();
    const { body } = await ask('POST', '/documents', { slug: 'terms', kind: 'terms' });
    versions = `/documents/${Created.parse(body).data.id}/versions`;
    draft = `${versions}/${Created.parse((await ask('POST', versions, VERSION)).body).data.id}`;
  });
  afterAll(() => panel.stop());

  const refused = (...fields: readonly string[]) => ({
    status: 422,
    body: {
      code: 'VALIDATION_ERROR',
      errors: fields.map((field) => ({ field, message: expect.stringMatching(/^[^✖]+$/) })),
    },
  });

  it('of the allowed addresses', async () => {
    const answer = await ask('PATCH', '', { allowed_ips: ['192.0.2.1', '192.0.2.1/24', '::ffff:192.0.2.1'] });
    expect(answer).toMatchObject(refused('allowed_ips.1', 'allowed_ips.2'));
  });

  it('of a document version', async () => {
    expect(await ask('POST', versions, { ...VERSION, media_type: 'Text/Plain' })).toMatchObject(refused('media_type'));
    expect(await ask('POST', versions, { ...VERSION, content: '' })).toMatchObject(refused('content'));
    const binary = { ...VERSION, media_type: 'application/pdf', content: 'no base64' };
    expect(await ask('POST', versions, binary)).toMatchObject(refused('content'));
    expect(await ask('PATCH', draft, { media_type: 'application/pdf' })).toMatchObject(refused('media_type'));
  });

  it('of a cookie in a category that the draft does not have', async () => {
    expect(await ask('POST', '/cookies', COOKIE)).toMatchObject(refused('category'));
  });

  it('of more categories than a site can have', async () => {
    for (let number = 1; number <= 100; number += 1)
      expect(await ask('POST', '/categories', { ...CATEGORY, key: `key-${number}` })).toMatchObject({ status: 201 });
    expect(await ask('POST', '/categories', { ...CATEGORY, key: 'one-more' })).toMatchObject(refused('categories'));
  });

  it('but not a UUID of another variant, which is the id of nothing', async () => {
    const other = '11111111-1111-1111-0111-111111111111';
    const answer = await ask('POST', `/documents/${other}/versions`, VERSION);
    expect(answer).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
  });
});
