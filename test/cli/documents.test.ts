import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
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
  const site = ['--tenant', tenantId, '--name', 'Shop', '--domain', 'shop.example', '--verified'];
  siteId = Made.parse(await line.json('admin', 'site', 'create', ...site)).id;
});
afterAll(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

const Made = z.looseObject({ id: z.string() });
const admin = (...args: string[]): Promise<unknown> => line.json('admin', ...args);
const audited = async (): Promise<unknown[]> =>
  (
    await app.superuser.query(
      'select action, actor_kind, subject_id, details from audit_log where tenant_id = $1 order by seq',
      [tenantId],
    )
  ).rows;

it('manages a document from creation to a retired version, with an audit entry for each change', async () => {
  const { id } = Made.parse(await admin('document', 'create', '--site', siteId, '--slug', 'terms', '--kind', 'terms'));
  expect(await admin('document', 'change', id, '--slug', 'terms-of-use')).toMatchObject({ slug: 'terms-of-use' });
  const text = ['--language', 'tr', '--title', 'T'];
  const draft = Made.parse(await admin('document', 'draft', id, ...text, '--content', 'Bir'));
  const dropped = Made.parse(await admin('document', 'draft', id, ...text, '--content', 'Yok'));
  const file = join(folder, 'terms.md');
  await writeFile(file, 'Şartlar\n');
  const change = ['--file', file, '--media-type', 'text/markdown'];
  expect(await admin('document', 'change-draft', draft.id, ...change)).toMatchObject({ size: 9, number: null });
  expect(await admin('document', 'delete-draft', dropped.id)).toEqual({ id: dropped.id, deleted: true });
  expect(await admin('document', 'publish', draft.id)).toMatchObject({ id: draft.id, number: 1, state: 'published' });
  expect(await admin('document', 'activate', draft.id)).toEqual({ id: draft.id, state: 'active', retired: null });
  const output = join(folder, 'out.md');
  await admin('document', 'content', draft.id, '--output', output);
  expect(await readFile(output, 'utf8')).toBe('Şartlar\n');
  expect((await line.run(['admin', 'document', 'content', draft.id])).stdout).toBe('Şartlar\n');
  expect(await admin('document', 'content', draft.id)).toMatchObject({
    content: 'Şartlar\n',
    media_type: 'text/markdown',
  });
  expect((await line.run(['admin', 'document', 'content', draft.id, '--output', output])).exitCode).not.toBe(0);
  await admin('document', 'retire', draft.id);
  expect((await line.run(['admin', 'document', 'change-draft', draft.id, '--title', 'X'])).stderr).toContain(
    'only a draft',
  );
  expect(await admin('document', 'list', '--site', siteId)).toMatchObject({ documents: [{ id, active_versions: [] }] });
  expect(await admin('document', 'show', id)).toMatchObject({
    id,
    versions: [{ id: draft.id, number: 1, state: 'retired', publication: { event_id: expect.any(String) } }],
  });
  expect((await line.run(['admin', 'document', 'show', id])).stdout).toContain(draft.id);
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

it('attaches a document to another site of its tenant and detaches it, with an audit entry for each', async () => {
  const site = ['--tenant', tenantId, '--name', 'Outlet', '--domain', 'outlet.example', '--verified'];
  const outlet = Made.parse(await admin('site', 'create', ...site)).id;
  const { id } = Made.parse(await admin('document', 'create', '--site', siteId, '--slug', 'shared', '--kind', 'terms'));
  const text = ['--language', 'en', '--title', 'Terms', '--content', 'Shared words'];
  const version = Made.parse(await admin('document', 'publish', '--document', id, ...text));
  await admin('document', 'activate', version.id);
  const attached = await admin('document', 'attach', id, '--site', outlet);
  expect(attached).toMatchObject({ site_id: outlet, domain: 'outlet.example', active_versions: [{ number: 1 }] });
  expect(await admin('document', 'show', id)).toMatchObject({ site_id: siteId, attachments: [{ site_id: outlet }] });
  expect((await line.run(['admin', 'document', 'show', id])).stdout).toContain(
    `attached to outlet.example (${outlet})`,
  );
  expect(await admin('document', 'list', '--site', outlet)).toMatchObject({
    documents: [{ id, home_site_id: siteId }],
  });
  expect(await admin('document', 'detach', id, '--site', outlet)).toMatchObject({ site_id: outlet });
  expect(await admin('document', 'list', '--site', outlet)).toEqual({ documents: [] });
  const again = await line.run(['admin', 'document', 'detach', id, '--site', outlet]);
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
  expect(await admin('site', 'configuration', siteId)).toMatchObject({ revision: 1, has_changes: false, problems: [] });
  const same = await line.run(['admin', 'site', 'publish-configuration', siteId, '--revision', '1']);
  expect(same).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('nothing to publish') });
  await app.superuser.query(`update site_config_drafts set content = content || '{"validity_days": 5}', revision = 2`);
  expect(await admin('site', 'publish-configuration', siteId, '--revision', '2')).toMatchObject({ number: 2 });
  expect(await admin('site', 'configurations', siteId)).toMatchObject({
    configurations: [
      { number: 2, is_in_force: true },
      { number: 1, is_in_force: false },
    ],
  });
  const { stdout } = await line.run(['admin', 'site', 'configuration', siteId, '--number', '2']);
  expect(JSON.parse(stdout)).toMatchObject({
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
