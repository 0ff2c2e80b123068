import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { ScanResponse } from '../../../schemas/api/scans.js';
import { SITE_SCANNED, SiteScannedRecord } from '../../../schemas/events/site-scanned.js';
import { postSigned } from '../../support/signed-requests.js';
import { until } from '../../support/wait.js';
import { startSite, type TestSite } from '../../tenancy/scans/scanned-shop.js';
import { entriesOf, unpack } from '../package/reading-packages.js';
import { type ExportWorld, startExportWorld } from './export-world.js';

const SECRET = 'ann@person.example';

let world: ExportWorld;
let shop: TestSite;
let folder: string;
beforeAll(async () => {
  shop = await startSite('127.0.0.1', (_, response) =>
    response
      .writeHead(200, { 'content-type': 'text/html', 'set-cookie': [`tracker=${SECRET}; Max-Age=60`, '_visits=2'] })
      .end('<!doctype html><title>Shop</title>'),
  );
  world = await startExportWorld({ SCAN_NETWORKS: '127.0.0.1/32' });
  await world.panel.app.change(
    "update sites set domain = 'localhost', config_revision = config_revision + 1 where id = $1",
    [world.siteId],
  );
  folder = await mkdtemp(join(tmpdir(), 'scans-test-'));
});
afterAll(async () => {
  await world.stop();
  await shop.close();
  await rm(folder, { recursive: true });
});

const scan = async (record: boolean): Promise<z.infer<typeof ScanResponse>['data']> => {
  const url = `http://localhost:${shop.port}/basket;session=4711?mail=${SECRET}`;
  const answer = await postSigned(world.panel.app.url, world.demo.keys.write, '/tool/v1/scans', { url, record });
  const body: unknown = await answer.json();
  expect(answer.status, JSON.stringify(body)).toBe(200);
  return ScanResponse.parse(body).data;
};

/** Exports the whole site. @returns the package and its files */
async function exported(): Promise<{ bytes: Uint8Array; files: Map<string, Buffer> }> {
  const job = await world.reaches((await world.create()).id, 'finished');
  const bytes = new Uint8Array(await (await world.download(job.id)).arrayBuffer());
  await writeFile(join(folder, 'package.zip'), bytes);
  return { bytes, files: await unpack(join(folder, 'package.zip')) };
}

const Report = z.looseObject({
  verdict: z.string(),
  scans: z.looseObject({ count: z.int(), newest: z.array(z.looseObject({ event_id: z.string(), url: z.string() })) }),
});

it('a scan is sealed, stamped and enclosed if it was to be recorded, and not otherwise', async () => {
  await world.record(['before']);
  expect((await scan(false)).event_id).toBeNull();

  const result = await scan(true);
  const { event_id: eventId } = result;
  expect(eventId).not.toBeNull();
  const isStamped = async (): Promise<boolean> => {
    const { rows } = await world.panel.app.superuser.query(
      'select from leaves l join checkpoints c on c.size > l.batch where l.event_id = $1 and l.stream = $2',
      [eventId, `notices-${world.siteId}`],
    );
    return rows.length > 0;
  };
  await until(isStamped);
  const { bytes, files } = await exported();
  const scans = entriesOf(files).flatMap(({ entry }) => (entry.type === SITE_SCANNED ? [entry] : []));
  expect(scans.map(({ event_id: id }) => id)).toEqual([eventId]);
  const record = SiteScannedRecord.parse(scans[0]?.record);
  expect(record).toMatchObject({
    url: `http://localhost:${shop.port}/basket`,
    method: 'http',
    site_config_hash: result.site_config_hash,
    started_at: result.started_at,
    ended_at: result.ended_at,
  });
  expect(record.findings).toEqual({ items: result.findings, left_out: 0 });
  expect(JSON.stringify(record)).not.toMatch(/person\.example|4711/);

  const verified = world.verify(bytes);
  expect(verified.status, verified.stdout).toBe(0);
  const report = Report.parse(JSON.parse(verified.stdout));
  expect(report.scans).toMatchObject({ count: 1, newest: [{ event_id: eventId, url: record.url }] });

  const projected = await world.panel.app.superuser.query(
    'select event_id, record from read_model.notice_scans where site_id = $1',
    [world.siteId],
  );
  const stored = await world.panel.app.superuser.query('select event_id, record from site_scans where site_id = $1', [
    world.siteId,
  ]);
  expect(stored.rows).toEqual(projected.rows);
  expect(stored.rows).toHaveLength(1);
});
