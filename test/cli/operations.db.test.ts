import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ErasureReceipt } from '../../schemas/api/erasures.js';
import { EvidenceExportDetails } from '../../schemas/api/panel/exports.js';
import { PANEL_OPERATIONS } from '../../src/api/panel/operations.js';
import type { CliContext } from '../../src/cli/command/context.js';
import { commandName } from '../../src/cli/operations/commands.js';
import { createProgram } from '../../src/cli/program.js';
import { RecordingTenant } from '../api/panel/recording-tenant.js';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { unpack } from '../evidence/package/reading-packages.js';
import { type CommandLine, commandLine } from './command-line.js';

describe('the commands of the operations of the panel', () => {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const context: CliContext = { env: {}, ...streams, lowerPriority: () => undefined };
  const commandsOf = async (...args: string[]): Promise<readonly Command[]> =>
    (await createProgram(context, ['admin', ...args])).commands.find((one) => one.name() === 'admin')?.commands ?? [];

  it('gives each operation for operators one command, which its help describes', async () => {
    const groups = await commandsOf();
    const operations = PANEL_OPERATIONS.filter(({ isForUsers }) => isForUsers !== true);
    const names = operations.map(commandName).map(({ group, name }) => `${group} ${name}`);
    expect(new Set(names).size).toBe(names.length);
    const missing = names.filter((wanted) => {
      const [group, name] = wanted.split(' ');
      const found = groups.find((one) => one.name() === group)?.commands.find((one) => one.name() === name);
      return found === undefined || found.description() === '';
    });
    // `admin audit-log` also lists changes of the installation, which are in no tenant.
    expect(missing).toEqual(['audit-log list']);
    const options = groups.flatMap(({ commands }) => commands.flatMap((one) => [...one.options]));
    expect(options.filter(({ description }) => description === '').map(({ flags }) => flags)).toEqual([]);
  });

  it('loads the commands of the named group alone', async () => {
    expect((await commandsOf('webhook')).map((one) => one.name())).toEqual(['webhook']);
    expect((await commandsOf('site')).map((one) => one.name())).toEqual(['site']);
  });

  it.each([
    ['rotateApiKey', 'API keys', 'api-key', 'rotate'],
    ['readDocumentVersionContent', 'Document versions', 'document-version', 'show-content'],
    ['listCategories', 'Categories', 'category', 'list'],
    ['scanSite', 'Scans', 'scan', 'scan-site'],
  ])('names %s of %s %s %s', (id, tag, group, name) => {
    expect(commandName({ id, tag })).toEqual({ group, name });
  });
});

describe('operators', () => {
  let app: RunningApp;
  let shop: RecordingTenant;
  let other: RecordingTenant;
  let line: CommandLine;
  let folder: string;
  beforeAll(async () => {
    app = await startApp('serve');
    shop = await RecordingTenant.of(app);
    other = await RecordingTenant.of(app);
    line = commandLine(app);
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-operators-'));
  });
  afterAll(async () => {
    await app.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const Users = z.object({ data: z.array(z.looseObject({ id: z.string() })), next_cursor: z.string().nullable() });
  const list = async (...args: string[]) => Users.parse(await line.json('admin', 'user', 'list', ...args));

  it('list what is in one tenant or in all, and continue at a cursor', async () => {
    const ofShop = await list('--tenant', shop.backend.demo.tenant_id);
    const ofOther = await list('--tenant', other.backend.demo.tenant_id);
    expect(ofShop.data.length).toBeGreaterThan(1);
    expect((await list()).data).toEqual(expect.arrayContaining([...ofShop.data, ...ofOther.data]));
    const first = await list('--tenant', shop.backend.demo.tenant_id, '--limit', '1');
    expect(first.data).toEqual(ofShop.data.slice(0, 1));
    const rest = await list('--tenant', shop.backend.demo.tenant_id, '--cursor', first.next_cursor ?? '');
    expect([...first.data, ...rest.data]).toEqual(ofShop.data);
    expect(await line.run(['admin', 'user', 'list', '--cursor', 'x'])).toMatchObject({ exitCode: 2 });
  });

  it('erase a person as the channel operator', async () => {
    await shop.record({ visitor_id: 'ada' });
    const Answer = z.object({ data: ErasureReceipt });
    const subject = JSON.stringify({ by: 'visitor_id', value: 'ada' });
    const asked = await line.json('admin', 'erasure', 'create', '--site', shop.siteId, '--subject', subject);
    const { data } = Answer.parse(asked);
    expect(data).toMatchObject({ channel: 'operator', by: 'visitor_id' });
    await shop.until(ErasureReceipt, `/erasures/${data.id}`, ({ state }) => state === 'finished');
    const log = await line.json(
      'admin',
      'audit-log',
      '--tenant',
      shop.backend.demo.tenant_id,
      '--action',
      'erasure.create',
    );
    expect(log).toMatchObject({ entries: [{ actor: { kind: 'operator' }, subject: { id: data.id } }] });
  });

  it('download a package as it was built, with an audit entry of the operator', async () => {
    await shop.record({ visitor_id: 'bob' });
    const made = await shop.inSite('owner', 'POST', '/exports', {});
    const { id } = z.object({ data: z.looseObject({ id: z.string() }) }).parse(made.body).data;
    await shop.until(EvidenceExportDetails, `/exports/${id}`, ({ state }) => state === 'finished');
    const output = join(folder, 'package.zip');
    const download = ['evidence-export', 'download', '--site', shop.siteId, id];
    expect(await line.json('admin', ...download, '--output', output)).toEqual({
      content_type: 'application/zip',
      output,
    });
    expect([...(await unpack(output)).keys()]).toContain('manifest.json');
    const log = await line.json(
      'admin',
      'audit-log',
      '--tenant',
      shop.backend.demo.tenant_id,
      '--action',
      'export.download',
    );
    expect(log).toMatchObject({ entries: [{ actor: { kind: 'operator' }, subject: { id } }] });
  });
});
