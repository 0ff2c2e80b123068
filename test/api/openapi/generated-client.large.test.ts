import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { type RunningApp, startApp } from '../server/running-app.js';

const CLIENT = fileURLToPath(new URL('client/', import.meta.url));
const clientRequire = createRequire(join(CLIENT, 'package.json'));
const GENERATOR = join(dirname(clientRequire.resolve('openapi-typescript')), '../bin/cli.js');
const COMPILER = clientRequire.resolve('typescript/lib/tsc.js');
const run = promisify(execFile);
const packageFolder = (name: string): string => dirname(clientRequire.resolve(`${name}/package.json`));

type AsyncFunction = (...args: unknown[]) => Promise<unknown>;
const isFunction = (value: unknown): boolean => typeof value === 'function';
const Client = z.object({
  recordConsent: z.custom<AsyncFunction>(isFunction),
  createSite: z.custom<AsyncFunction>(isFunction),
});

describe('a client with types that openapi-typescript generates from the served documents', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let folder: string;

  beforeAll(async () => {
    app = await startApp('serve');
    demo = await app.seed();
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-client-'));
    await cp(CLIENT, folder, { recursive: true, filter: (path) => !path.includes('node_modules') });
    await mkdir(join(folder, 'node_modules'));
    for (const name of ['openapi-fetch', 'openapi-typescript-helpers'])
      await symlink(packageFolder(name), join(folder, 'node_modules', name));
    for (const [path, name] of [
      ['/openapi/tool-api.json', 'tool-api'],
      ['/openapi.yaml', 'panel-api'],
    ] as const) {
      const document = join(folder, `${name}.openapi`);
      await writeFile(document, await (await fetch(app.url + path)).text());
      await run(process.execPath, [GENERATOR, document, '--output', join(folder, `${name}.ts`)]);
    }
  });
  afterAll(async () => {
    await app.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('compiles with strict TypeScript, and works against the service', async () => {
    const compiled = await run(process.execPath, [COMPILER, '--project', folder]).catch(
      (error: { stdout?: string }) => error,
    );
    expect(compiled.stdout).toBe('');
    const { recordConsent, createSite } = Client.parse(await import(pathToFileURL(join(folder, 'client.js')).href));

    const versionOf = (name: string) => {
      const document = demo.documents.find(({ slug }) => slug === name);
      return document?.versions.find(({ state, language }) => state === 'active' && language === 'en')?.id;
    };
    const versions = { versionId: versionOf('cookie-policy'), approvalVersionId: versionOf('explicit-consent') };
    const sign = (path: string, body: string) => signedHeaders(demo.keys.write, path, body);
    expect(await recordConsent(app.url, demo.keys.read, sign, versions)).toEqual({
      pong: 'pong',
      siteId: demo.site.id,
      consentToken: expect.stringMatching(/^ct_[0-9a-f]{32}$/),
      item: [1, 'APPROVAL_TOKEN_REQUIRED'],
      error: ['VALIDATION_ERROR', 'visitor_id'],
    });

    const site = { name: 'Made by the client', domain: 'client.example' };
    const created = await createSite(app.url, demo.panel_user, site);
    expect(created).toMatchObject({ id: expect.any(String), nextCursor: null });
    expect(created).toHaveProperty('names', expect.arrayContaining([site.name]));
    await expect(createSite(app.url, demo.panel_user, { ...site, domain: 'no domain' })).rejects.toThrow(
      '422 VALIDATION_ERROR',
    );
  });
});
