import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PANEL_OPERATIONS } from '../../../src/api/panel/operations.js';
import { encodeCursor } from '../../../src/api/panel/page.js';
import { createDocument } from '../../../src/tenancy/documents/documents.js';
import { sampled } from '../../support/sweeps.js';
import { belowPrefix, type PanelApp, startPanel } from './panel-fixture.js';

const AT_ONCE = 10;
const ID = '0197c000-0000-7000-8000-000000000000';
const TIMES = [
  '0000-01-01T00:00:00Z',
  '0000-12-31T23:59:59.999Z',
  '0001-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59-23:59',
  '9999-12-31T23:59:59.9999999999Z',
  '0001-01-01T00:00:00Z',
];
const DAYS = ['0000-01-01', '0000-12-31', '0001-01-01', '9999-12-31'];
const NUMBERS = [-1, 2_147_483_647, 2_147_483_648, 9_007_199_254_740_991, 9_007_199_254_740_992, 1e30, -1e308, 0.5];
const TEXTS = ['\0', 'a\0b', '\ud800', '', "'", '%', '\\', 'x'.repeat(300)];
const VALUES = [...TIMES, ...DAYS, ...NUMBERS.map(String), ...TEXTS, 'true', 'null', ID, ID.toUpperCase()];

/** Cursors of each shape that a list of the panel has, with values that a database may refuse. */
const CURSORS = [
  ...[...TIMES, '0000-01-01T00:00:00.000Z'].flatMap((time) => [[time, ID], [time]]),
  ...DAYS.map((day) => [day]),
  ...NUMBERS.flatMap((number) => [
    [number],
    ['en', number, ID],
    ...['consents', 'batches', 'checkpoints'].map((list) => [list, number]),
    ['consents', number, ID],
  ]),
  ...TEXTS.flatMap((text) => [[text], [text, text], [text, 1, ID], ['erasures', text], ['announcements', text]]),
  [],
].map(encodeCursor);

describe('no value that comes from outside is answered as a failure of the service', () => {
  let panel: PanelApp;
  let ids: Readonly<Record<string, string>>;
  beforeAll(async () => {
    panel = await startPanel();
    const { siteId } = panel.own;
    const document = await createDocument(panel.app.service.installation.adminPool, {
      siteId,
      slug: 'terms',
      kind: 'terms',
      requiresApprovalToken: false,
    });
    ids = { site_id: siteId, document_id: document.id };
  });
  afterAll(() => panel.stop());

  const failures = async (method: string, path: string, queries: readonly string[], body?: unknown) => {
    const failed: string[] = [];
    for (let i = 0; i < queries.length; i += AT_ONCE) {
      // One user sends more requests than the limit of a minute allows.
      if (i % 200 === 0) await panel.app.superuser.query('delete from rate_limit_windows');
      await Promise.all(
        queries.slice(i, i + AT_ONCE).map(async (query) => {
          const { status } = await panel.as(panel.own.users.owner, method.toUpperCase(), path + query, body);
          if (status >= 500 || status === 429) failed.push(`${status} ${decodeURIComponent(query)}`);
        }),
      );
    }
    return failed;
  };
  const filled = (path: string) =>
    belowPrefix(path).replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? randomUUID());

  const withQuery = PANEL_OPERATIONS.filter(({ query }) => Object.keys(query.shape).length > 0);
  it.each(sampled('hostile queries of the panel', withQuery))('$id, in its query', async ({ method, path, query }) => {
    const queries = Object.keys(query.shape).flatMap((name) =>
      (name === 'cursor' ? [...CURSORS, ...VALUES] : VALUES).map(
        (value) => `?${new URLSearchParams({ [name]: value })}`,
      ),
    );
    expect(await failures(method, filled(path), queries)).toEqual([]);
  });

  const withParams = PANEL_OPERATIONS.filter(({ path }) => path.includes('{'));
  it.each(sampled('hostile paths of the panel', withParams))('$id, in its path', async ({ method, path }) => {
    const values = [...NUMBERS, '%00', '0', '%', '0000-01-01', ID.toUpperCase()];
    const failed: string[] = [];
    for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
      for (const value of values)
        failed.push(...(await failures(method, filled(path.replace(`{${name}}`, String(value))), [''])));
    }
    expect(failed).toEqual([]);
  });

  it('searchConsents and createExport, in their bodies', async () => {
    const site = `/sites/${ids.site_id}`;
    const person = { by: 'visitor_id', value: 'somebody' };
    for (const cursor of CURSORS) {
      expect(
        await failures('post', `${site}/consents/search`, [''], { person, reason: 'for the test', cursor }),
      ).toEqual([]);
    }
    for (const member of ['from', 'to']) {
      for (const time of TIMES) {
        const body = { [member]: time };
        expect(
          await failures('post', `${site}/consents/search`, [''], { person, reason: 'for the test', ...body }),
        ).toEqual([]);
        expect(await failures('post', `${site}/exports`, [''], { filter: body }), time).toEqual([]);
      }
    }
  });
});
