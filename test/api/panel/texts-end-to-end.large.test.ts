import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { ConfigResponse } from '../../../schemas/api/config.js';
import { ConfigurationDraft, ConfigurationVersion } from '../../../schemas/api/panel/configuration.js';
import { DocumentVersion } from '../../../schemas/api/panel/documents.js';
import { ConsentRecord } from '../../../schemas/events/consent-recorded.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import { type ExportWorld, startExportWorld } from '../../evidence/exports/export-world.js';
import { entriesOf, unpack } from '../../evidence/package/reading-packages.js';
import { postSigned } from '../../support/signed-requests.js';
import { get } from '../server/running-app.js';

let world: ExportWorld;
let folder: string;
beforeAll(async () => {
  world = await startExportWorld();
  folder = await mkdtemp(join(tmpdir(), 'texts-test-'));
});
afterAll(async () => {
  await world.stop();
  await rm(folder, { recursive: true });
});

const inSite = async <T>(schema: z.ZodType<T>, method: string, path: string, body?: unknown): Promise<T> => {
  const answer = await world.panel.as(world.user('owner'), method, `/sites/${world.siteId}${path}`, body);
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return z.object({ data: schema }).parse(answer.body).data;
};
const shownConfig = async (): Promise<ConfigResponse['data']> =>
  ConfigResponse.parse((await get(world.panel.app, '/tool/v1/config?language=tr', world.demo.keys.read)).body).data;

it('what the panel publishes is what visitors are shown, what consents name, and what the package holds', async () => {
  const Any = z.looseObject({});
  await world.record(['before']);
  const policy = world.demo.documents.find(({ slug }) => slug === 'cookie-policy');
  const path = `/documents/${policy?.id}/versions`;
  const content = 'Ziyaretler sayılır, haritalar gösterilir.\n';
  const draft = await inSite(DocumentVersion, 'POST', path, {
    language: 'tr',
    title: 'Çerez politikası 2',
    media_type: 'text/markdown',
    content,
  });
  await inSite(DocumentVersion, 'POST', `${path}/${draft.id}/publish`, { content_sha256: draft.content_sha256 });
  await inSite(DocumentVersion, 'POST', `${path}/${draft.id}/activate`);
  await inSite(Any, 'POST', '/categories', {
    key: 'maps',
    required: false,
    title: { en: 'Maps', tr: 'Haritalar' },
    purpose: { en: 'A map is shown.', tr: 'Harita gösterilir.' },
    lawful_basis: 'consent',
    personal_data: ['IP address'],
    recipients: ['Maps Inc.'],
    retention_days: 7,
  });
  const map = { name: 'NID', provider: 'Maps Inc.', party: 'third', duration_seconds: 15_897_600 };
  await inSite(Any, 'POST', '/cookies', {
    ...map,
    category: 'maps',
    purpose: { en: 'Remembers the map.', tr: 'Haritayı hatırlar.' },
  });
  const { revision } = await inSite(ConfigurationDraft, 'GET', '/configuration');
  const published = await inSite(ConfigurationVersion, 'POST', '/configuration/publish', { revision });
  expect(published.number).toBe(2);

  await expect.poll(async () => (await shownConfig()).site_config_hash).toBe(published.sha256);
  const config = await shownConfig();
  expect(config.categories.map(({ key, cookies }) => [key, cookies.map(({ name }) => name)])).toEqual([
    ['necessary', ['shop_session']],
    ['analytics', ['_visits']],
    ['marketing', ['_ads_*']],
    ['maps', ['NID']],
  ]);
  expect(config.categories.at(-1)).toMatchObject({
    title: 'Haritalar',
    purpose: 'Harita gösterilir.',
    cookies: [{ ...map, purpose: 'Haritayı hatırlar.' }],
  });
  expect(config.documents.find(({ slug }) => slug === 'cookie-policy')?.version).toMatchObject({
    id: draft.id,
    number: 2,
    content_sha256: createHash('sha256').update(content).digest('hex'),
  });

  const consent = {
    consent_type: 'cookie',
    decision: 'partial',
    document_version_id: draft.id,
    language: 'tr',
    categories: { necessary: true, maps: true, marketing: false },
    visitor_id: 'after',
  };
  const recorded = await postSigned(world.panel.app.url, world.demo.keys.write, '/tool/v1/consents', consent);
  expect(recorded.status, await recorded.text()).toBe(202);
  await world.record(['last']);

  const job = await world.reaches((await world.create()).id, 'finished');
  const bytes = new Uint8Array(await (await world.download(job.id)).arrayBuffer());
  const verified = world.verify(bytes);
  expect(verified.status, verified.stdout).toBe(0);
  await writeFile(join(folder, 'package.zip'), bytes);
  const files = await unpack(join(folder, 'package.zip'));
  const records = entriesOf(files).map(({ entry }) => entry);
  const named = records
    .filter(({ type }) => type === 'ConsentRecorded.v1')
    .map(({ record }) => ConsentRecord.parse(record))
    .find(({ document_version_id: id }) => id === draft.id);
  expect(named).toMatchObject({
    site_config_hash: published.sha256,
    document_hash: draft.content_sha256,
    categories: consent.categories,
  });
  expect(files.get(`notices/${draft.content_sha256}`)?.toString('utf8')).toBe(content);
  const covered = parseSiteConfig(files.get(`notices/${published.sha256}`)?.toString('utf8') ?? '');
  expect(covered.cookies.filter(({ category }) => category === 'maps').map(({ name }) => name)).toEqual(['NID']);
  expect(records.filter(({ type }) => type === 'SiteConfigPublished.v1').map(({ event_id: id }) => id)).toContain(
    published.publication.event_id,
  );
  const stamped = await inSite(DocumentVersion, 'GET', `${path}/${draft.id}`);
  expect(stamped.publication?.stamped).not.toBeNull();
});
