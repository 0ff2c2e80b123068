import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { pageOf } from '../../../schemas/api/panel/common.js';
import { RecordedScan } from '../../../schemas/api/panel/scans.js';
import { ScanResponse, type ScanResult } from '../../../schemas/api/scans.js';
import { createSite } from '../../../src/tenancy/sites/sites.js';
import { eventually, until } from '../../support/wait.js';
import { startSite, type TestSite } from '../../tenancy/scans/scanned-shop.js';
import type { Answer } from '../server/running-app.js';
import { type PanelApp, type PanelUser, startPanel } from './panel-fixture.js';

let panel: PanelApp;
let shop: TestSite;
let url: string;
beforeAll(async () => {
  shop = await startSite('127.0.0.1', (_, response) =>
    response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'tracker=1' }).end('<h1>Shop</h1>'),
  );
  url = `http://localhost:${shop.port}/`;
  panel = await startPanel('serve', { SCAN_NETWORKS: '127.0.0.1/32' });
  const own = [panel.own.siteId];
  await panel.app.change(
    "update sites set domain = 'localhost', verified_at = now(), config_revision = config_revision + 1 where id = $1",
    own,
  );
});
afterAll(async () => {
  await panel.stop();
  await shop.close();
});

const scans = (user: PanelUser, method: string, body?: unknown): Promise<Answer> =>
  panel.as(user, method, `/sites/${panel.own.siteId}/scans`, body);
/** Scans a page of the shop. A busy machine may take longer than a scan waits. */
const scanned = (user: PanelUser, body: unknown): Promise<ScanResult> =>
  eventually(async () => {
    const answer = await scans(user, 'POST', body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return ScanResponse.parse(answer.body).data;
  }, 1_000);
const recorded = async (): Promise<readonly RecordedScan[]> =>
  pageOf(RecordedScan).parse((await scans(panel.own.users.viewer, 'GET')).body).data;
const audited = async (): Promise<unknown[]> => {
  const { rows } = await panel.app.superuser.query(
    "select subject_id, details from audit_log where action = 'site.scan' order by seq",
  );
  return rows;
};

it('scans a page, and records the result with its audit entry if it was to be recorded', async () => {
  const { admin, owner } = panel.own.users;
  const result = await scanned(admin, { url });
  expect(result).toMatchObject({ event_id: null, site_id: panel.own.siteId });
  expect(result.findings.map(({ problem, name }) => [problem, name])).toEqual([['undeclared', 'tracker']]);
  expect(await recorded()).toEqual([]);

  const { event_id: eventId } = await scanned(owner, { url: `${url}?secret=1`, record: true });
  expect(eventId).not.toBeNull();
  expect(await recorded()).toMatchObject([{ url, findings: 1, publication: { event_id: eventId } }]);
  expect(await audited()).toEqual([
    { subject_id: panel.own.siteId, details: { findings: 1 } },
    { subject_id: panel.own.siteId, details: { findings: 1, event_id: eventId } },
  ]);
  await until(async () => (await recorded())[0]?.publication.stamped !== null);
});

it('lists the newest first, in pages', async () => {
  await scanned(panel.own.users.owner, { url, record: true });
  const [newest, older] = await recorded();
  const path = `/sites/${panel.own.siteId}/scans?limit=1`;
  const first = pageOf(RecordedScan).parse((await panel.as(panel.own.users.dpo, 'GET', path)).body);
  expect(first.data.map(({ publication }) => publication.event_id)).toEqual([newest?.publication.event_id]);
  const next = await panel.as(panel.own.users.dpo, 'GET', `${path}&cursor=${first.next_cursor}`);
  expect(
    pageOf(RecordedScan)
      .parse(next.body)
      .data.map(({ publication }) => publication.event_id),
  ).toEqual([older?.publication.event_id]);
});

it('refuses pages of other hosts and of other sites of the tenant, and records nothing', async () => {
  const tenant = await panel.makeTenant();
  const other = { allowedOrigins: [], allowedIps: [], isVerified: true };
  const { adminPool } = panel.app.service.installation;
  await panel.app.change("update sites set domain = 'shop.example', verified_at = now() where id = $1", [
    tenant.siteId,
  ]);
  await createSite(adminPool, { tenantId: tenant.id, name: 'News', domain: 'news.shop.example', ...other });
  const before = shop.asked.length;
  for (const [address, message] of [
    ['https://news.shop.example/', 'Scan it there.'],
    ['https://elsewhere.example/', 'not on a verified domain'],
  ] as const) {
    const answer = await panel.as(tenant.users.owner, 'POST', `/sites/${tenant.siteId}/scans`, {
      url: address,
      record: true,
    });
    expect(answer).toMatchObject({ status: 422, body: { code: 'SCAN_URL_REFUSED' } });
    expect(z.object({ message: z.string() }).parse(answer.body).message).toContain(message);
  }
  expect(shop.asked.length).toBe(before);
  expect(await audited()).toHaveLength(3);
});
