import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { DEMO_CONFIG } from '../../src/demo/seed/demo-texts.js';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { type CommandLine, commandLine } from './command-line.js';

let app: RunningApp;
let folder: string;
let line: CommandLine;
let siteId: string;
let tenantId: string;
beforeAll(async () => {
  app = await startApp('serve');
  line = commandLine(app);
  folder = await mkdtemp(join(tmpdir(), 'consent-ledger-documents-'));
  tenantId = Made.parse(await line.json('admin', 'tenant', 'create', '--name', 'Shop')).id;
  const site = ['--tenant', tenantId, '--name', 'Shop', '--domain', 'shop.example'];
  siteId = Created.parse(await line.json('admin', 'site', 'create', ...site)).id;
  await line.json('admin', 'site', 'verify', siteId);
});
afterAll(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

const Made = z.looseObject({ id: z.string() });
const Created = z.object({ data: Made }).transform(({ data }) => data);
const WithRecord = z.object({ data: z.looseObject({ record: z.string() }) });
const admin = (...args: string[]): Promise<unknown> => line.json('admin', ...args);
const audited = async (): Promise<unknown[]> =>
  (
    await app.superuser.query(
      'select action, actor_kind, subject_id, details from audit_log where tenant_id = $1 order by seq',
      [tenantId],
    )
  ).rows;

it('manages a document from creation to a retired version, with an audit entry for each change', async () => {
  const { id } = Created.parse(
    await admin('document', 'create', '--site', siteId, '--slug', 'terms', '--kind', 'terms'),
  );
  expect(await admin('document', 'change', id, '--site', siteId, '--slug', 'terms-of-use')).toMatchObject({
    data: { slug: 'terms-of-use', kind: 'terms' },
  });
  const version = (command: string, ...args: string[]) =>
    admin('document-version', command, '--site', siteId, id, ...args);
  const text = ['--language', 'tr', '--title', 'T', '--media-type', 'text/plain', '--content'];
  const draft = Created.parse(await version('create', ...text, 'Bir'));
  const dropped = Created.parse(await version('create', ...text, 'Yok'));
  const file = join(folder, 'terms.md');
  await writeFile(file, 'Şartlar\n');
  expect(await version('change', draft.id, '--content', `@${file}`, '--media-type', 'text/markdown')).toMatchObject({
    data: { size: 9, number: null },
  });
  expect(await version('delete', dropped.id)).toEqual({ data: { id: dropped.id, deleted: true } });
  expect(await version('publish', draft.id)).toMatchObject({ data: { id: draft.id, number: 1, state: 'published' } });
  expect(await version('activate', draft.id)).toMatchObject({ data: { state: 'active' }, retired_version_id: null });
  const output = join(folder, 'out.md');
  expect(await version('show-content', draft.id, '--output', output)).toMatchObject({
    content_type: 'text/markdown; charset=utf-8',
  });
  expect(await readFile(output, 'utf8')).toBe('Şartlar\n');
  const content = ['admin', 'document-version', 'show-content', '--site', siteId, id, draft.id];
  expect((await line.run(content)).stdout).toBe('Şartlar\n');
  expect((await line.run([...content, '--output', output])).exitCode).toBe(1);
  await version('retire', draft.id);
  const late = await line.run(['admin', 'document-version', 'change', '--site', siteId, id, draft.id, '--title', 'X']);
  expect(late.stderr).toContain('only a draft');
  expect(await admin('document', 'list', '--site', siteId)).toMatchObject({ data: [{ id, active_versions: [] }] });
  expect(await version('list')).toMatchObject({
    data: [{ id: draft.id, number: 1, state: 'retired', publication: { event_id: expect.any(String) } }],
  });
  expect((await line.run(['admin', 'document-version', 'list', '--site', siteId, id])).stdout).toContain(draft.id);
  const lines = z.array(z.object({ action: z.string(), actor_kind: z.literal('operator') })).parse(await audited());
  expect(lines.map(({ action }) => action).filter((action) => action.startsWith('document'))).toEqual([
    'document.create',
    'document.change',
    'document_version.create',
    'document_version.create',
    'document_version.change',
    'document_version.delete',
    'document_version.publish',
    'document_version.activate',
    'document_version.retire',
  ]);
});

it('takes the content of a binary file, and refuses one that is not a text', async () => {
  const { id } = Created.parse(
    await admin('document', 'create', '--site', siteId, '--slug', 'leaflet', '--kind', 'other'),
  );
  const file = join(folder, 'leaflet.pdf');
  await writeFile(file, Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff]));
  const create = [
    'admin',
    'document-version',
    'create',
    '--site',
    siteId,
    id,
    '--language',
    'en',
    '--title',
    'Leaflet',
  ];
  const as = (content: string) => line.run([...create, '--media-type', 'application/pdf', '--content', content]);
  expect(await as(`@${file}`)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`base64:@${file}`) });
  expect(await as(`base64:@${file}`)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^size +5$/m) });
});

it('attaches a document to another site of its tenant and detaches it, with an audit entry for each', async () => {
  const site = ['--tenant', tenantId, '--name', 'Outlet', '--domain', 'outlet.example'];
  const outlet = Created.parse(await admin('site', 'create', ...site)).id;
  await admin('site', 'verify', outlet);
  const at = ['--site', siteId];
  const { id } = Created.parse(await admin('document', 'create', ...at, '--slug', 'shared', '--kind', 'terms'));
  const text = ['--language', 'en', '--title', 'Terms', '--media-type', 'text/plain', '--content', 'Shared words'];
  const version = Created.parse(await admin('document-version', 'create', ...at, id, ...text));
  await admin('document-version', 'publish', ...at, id, version.id);
  await admin('document-version', 'activate', ...at, id, version.id);
  const attached = { site_id: outlet, domain: 'outlet.example' };
  expect(await admin('document', 'attach', ...at, id, outlet)).toMatchObject({
    data: { ...attached, active_versions: [{ number: 1 }] },
  });
  expect(await admin('document', 'list-attachments', ...at, id)).toMatchObject({ data: [attached] });
  expect((await line.run(['admin', 'document', 'list-attachments', ...at, id])).stdout).toContain('outlet.example');
  expect(await admin('document', 'list', '--site', outlet)).toMatchObject({ data: [{ id, home_site_id: siteId }] });
  expect(await admin('document', 'detach', ...at, id, outlet)).toMatchObject({ data: attached });
  expect(await admin('document', 'list', '--site', outlet)).toEqual({ data: [], next_cursor: null });
  const again = await line.run(['admin', 'document', 'detach', ...at, id, outlet]);
  expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is not attached to site') });
  expect((await audited()).slice(-2)).toMatchObject([
    {
      action: 'document.attach',
      subject_id: id,
      details: { site_id: siteId, attached_site_id: outlet, changed: true },
    },
    { action: 'document.detach', subject_id: id, details: { site_id: siteId, attached_site_id: outlet } },
  ]);
});

it('publishes configurations from a file and from the draft, and shows each', async () => {
  const file = join(folder, 'config.json');
  await writeFile(file, JSON.stringify(DEMO_CONFIG));
  expect(await admin('site', 'configure', siteId, '--file', file)).toMatchObject({ number: 1 });
  const at = ['--site', siteId];
  expect(await admin('configuration', 'show', ...at)).toMatchObject({
    data: { revision: 1, has_changes: false, problems: [] },
  });
  const same = await line.run(['admin', 'configuration', 'publish', ...at, '--revision', '1']);
  expect(same).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('nothing to publish') });
  await admin('configuration', 'change', ...at, '--revision', '1', '--validity-days', '5');
  expect(await admin('configuration', 'publish', ...at, '--revision', '2')).toMatchObject({ data: { number: 2 } });
  expect(await admin('configuration', 'list-versions', ...at)).toMatchObject({
    data: [
      { number: 2, is_in_force: true },
      { number: 1, is_in_force: false },
    ],
  });
  const { record } = WithRecord.parse(await admin('configuration', 'show-version', ...at, '2')).data;
  expect(JSON.parse(record)).toMatchObject({
    v: 1,
    number: 2,
    validity_days: 5,
    cookies: [{ name: 'shop_session' }, {}, {}],
  });
  await writeFile(file, JSON.stringify({ ...DEMO_CONFIG, withdrawal: { en: 'Below' } }));
  const incomplete = await line.run(['admin', 'site', 'configure', siteId, '--file', file]);
  expect(incomplete).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('withdrawal.tr: is missing') });
  const lines = z.array(z.object({ action: z.string(), details: z.looseObject({}) })).parse(await audited());
  expect(lines.filter(({ action }) => action === 'configuration.publish')).toMatchObject([
    { details: { number: 1 } },
    { details: { number: 2, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
  ]);
});
