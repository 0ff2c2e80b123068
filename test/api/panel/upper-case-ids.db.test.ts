import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PANEL_OPERATIONS } from '../../../src/api/panel/operations.js';
import { belowPrefix, type PanelApp, startPanel } from './panel-fixture.js';

const Created = z.object({ data: z.object({ id: z.string() }) });
const Entries = z.object({ data: z.array(z.looseObject({})).min(1) });

/** Operations that read something of a site, by its id and perhaps that of a part of it. */
const READING = PANEL_OPERATIONS.filter(({ method, path }) => method === 'get' && path.includes('{site_id}'));

describe('ids in upper case, as Swift writes them', () => {
  let panel: PanelApp;
  let documentId: string;
  const asOwner = (method: string, path: string, body?: unknown) => panel.as(panel.own.users.owner, method, path, body);
  beforeAll(async () => {
    panel = await startPanel();
    const body = { slug: 'terms', kind: 'terms' };
    documentId = Created.parse((await asOwner('POST', `/sites/${panel.own.siteId}/documents`, body)).body).data.id;
  });
  afterAll(() => panel.stop());

  it.each(READING)('$path is answered as in lower case', async ({ path }) => {
    const known: Record<string, string> = { site_id: panel.own.siteId, document_id: documentId };
    const other = randomUUID();
    const filled = belowPrefix(path).replaceAll(
      /\{(\w+)\}/g,
      (_, name: string) => known[name] ?? (name.endsWith('_id') ? other : '1'),
    );
    const [lower, upper] = await Promise.all([
      asOwner('GET', filled),
      asOwner(
        'GET',
        filled.replaceAll(/[0-9a-f-]{36}/g, (id) => id.toUpperCase()),
      ),
    ]);
    expect(upper.status).toBe(lower.status);
    expect(upper.body).toEqual(lower.body);
  });

  it('finds what a query names, and records ids in lower case', async () => {
    const { siteId, users } = panel.own;
    const changed = await asOwner('PATCH', `/sites/${siteId.toUpperCase()}`, { name: 'Shop of shops' });
    expect(changed).toMatchObject({ status: 200, body: { data: { id: siteId } } });
    const log = await asOwner('GET', `/audit-log?actor_user_id=${users.owner.id.toUpperCase()}&action=site.change`);
    const [entry] = Entries.parse(log.body).data;
    expect(JSON.stringify(entry)).toContain(siteId);
    expect(JSON.stringify(entry)).not.toContain(siteId.toUpperCase());
    const statistics = await asOwner('GET', `/statistics/consents?site_id=${siteId.toUpperCase()}`);
    expect(statistics.status).toBe(200);
  });

  it('refuses a text that is no UUID, and says so', async () => {
    const answer = await asOwner('GET', '/sites/no-uuid');
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'VALIDATION_ERROR', errors: [{ field: 'site_id', message: 'must be a UUID' }] },
    });
  });
});
