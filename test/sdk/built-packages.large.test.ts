import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { VERSION } from '../../sdk/node/src/version.js';

const SDK = fileURLToPath(new URL('../../sdk/', import.meta.url));
const run = promisify(execFile);
const client = createRequire(new URL('../api/openapi/client/package.json', import.meta.url));
const REACT_TYPES = dirname(createRequire(import.meta.url).resolve('@types/react/package.json'));
const COMPILERS = [
  join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc'),
  client.resolve('typescript/lib/tsc.js'),
];
/** Bytes in gzip, of all files that a page or an app loads together. */
const MOST_BYTES: Readonly<Record<string, { readonly files: readonly string[]; readonly most: number }>> = {
  'the script for pages': { files: ['browser/dist/consent.js'], most: 19_000 },
  'the module for pages': { files: ['browser/dist/index.js'], most: 19_000 },
  'the file that gates content': { files: ['browser/dist/gate.js'], most: 1_250 },
  'the file with the placeholders of gated content': { files: ['browser/dist/placeholder.js'], most: 4_700 },
  'the file that deletes what a withdrawal ends': { files: ['browser/dist/withdrawn.js'], most: 1_000 },
  'the file that reads the text of the policy': { files: ['browser/dist/policy.js'], most: 600 },
  'the file that reads the choice of an account': { files: ['browser/dist/account.js'], most: 5_000 },
  'the file with the opt-out of sale': { files: ['browser/dist/opt-out.js'], most: 3_100 },
  'the script for tag managers': { files: ['browser/dist/tag-manager.js'], most: 600 },
  'the panel that a developer loads by hand': { files: ['browser/dist/inspect.js'], most: 9_000 },
  'what shows a draft on a page': { files: ['browser/dist/draft.js'], most: 2_500 },
  'the file with the signals of IAB': { files: ['browser/dist/iab.js'], most: 30_000 },
  'the script before those of advertisers': { files: ['browser/dist/iab-stub.js'], most: 1_600 },
  'the package for React': { files: ['react/dist/index.js', 'react/dist/shared.js'], most: 20_500 },
  'the package for React without a page': { files: ['react/dist/headless.js', 'react/dist/shared.js'], most: 1_500 },
  'the placeholder for React': { files: ['react/dist/placeholder.js'], most: 600 },
  'the conformance suite': { files: ['conformance/dist/index.js'], most: 17_900 },
  'the package for apps': { files: ['mobile/dist/index.js'], most: 15_500 },
  'the file for apps that reads the choice of an account': { files: ['mobile/dist/account.js'], most: 5_000 },
};

const Package = z.object({
  files: z.array(z.string()),
  dependencies: z.undefined().optional(),
  license: z.literal('Apache-2.0'),
});

const USE = `
import { ConsentLedger, ServiceError, type Acceptance } from '@consent-ledger/node';
import { Consent, showBanner, startConsent, type ConsentState } from '@consent-ledger/browser';
import { ConsentProvider, Gate, useConsent } from '@consent-ledger/react';
import { PlaceholderGate } from '@consent-ledger/react/placeholder';
import { createElement, type ReactNode } from 'react';
import { type Adapter, conformance, installPage } from '@consent-ledger/conformance';

async function record(version: string): Promise<Acceptance> {
  const ledger = new ConsentLedger({ baseUrl: 'https://consent.example', apiKey: 'svc_live_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', user: { email: 'a', password: 'b' } });
  for await (const { cursor, erased_record } of ledger.erasures()) console.log(cursor, erased_record.id);
  // @ts-expect-error there is no such decision
  await ledger.record({ consent_type: 'cookie', decision: 'perhaps', document_version_id: version });
  return ledger.record({ consent_type: 'cookie', decision: 'accepted', document_version_id: version, ip_address: '192.0.2.1' });
}

function show(): ConsentState {
  const consent = new Consent({ baseUrl: 'https://consent.example', apiKey: 'svc_live_x' });
  showBanner(consent);
  // @ts-expect-error the API key is missing
  startConsent({ baseUrl: 'https://consent.example' });
  // @ts-expect-error ip_address is of S2S routes only
  consent.document('form').then((shown) => consent.approve(shown, { decision: 'accepted', ip_address: '192.0.2.1' }));
  return consent.state;
}

function Page(): ReactNode {
  const { status, layer, categories, texts, allows, allowsService, choose, withdraw } = useConsent();
  choose({ media: false }, undefined, { youtube: allowsService('youtube') });
  createElement(Gate, { service: ['youtube', 'vimeo'] });
  // @ts-expect-error categories are permitted or not
  choose({ analytics: 'yes' });
  // @ts-expect-error the category is missing
  const gate = createElement(Gate, {});
  const placeholder = { title: 'A film', 'data-consent-recipient': 'YouTube (Google Ireland)' };
  const film = createElement(PlaceholderGate, { category: 'media', placeholder });
  // @ts-expect-error a placeholder says what waits
  createElement(PlaceholderGate, { category: 'media' });
  return createElement('p', { onClick: () => withdraw() }, film, status, layer, categories[0]?.title, texts.title, gate, allows('x'));
}
const page = createElement(ConsentProvider, { baseUrl: 'https://consent.example', apiKey: 'svc_live_x' }, createElement(Page));
// @ts-expect-error the API key is missing
createElement(ConsentProvider, { baseUrl: 'https://consent.example' });

const adapter: Adapter = {
  name: 'page',
  open: (device) => {
    installPage(device);
    const consent = new Consent({ baseUrl: device.baseUrl, apiKey: device.apiKey });
    consent.start();
    return Object.assign(consent, { close: () => consent.stop() });
  },
};
// @ts-expect-error nothing says how it opens
const broken: Adapter = { name: 'page' };
const suite: Promise<void>[] = conformance().map(({ run }) => run(adapter));

const codeOf = (error: unknown): string | null => (error instanceof ServiceError ? error.code : null);
console.log(record, show, codeOf, page, suite, broken);
`;

/** Compiled without the types of a browser or of Node. */
const APP_USE = `
import { asyncStorage, capacitorPreferences, Consent, type AppStorage, type ConsentSource } from '@consent-ledger/mobile';
import { ConsentSourceProvider, Gate } from '@consent-ledger/react/headless';
import { createElement } from 'react';

declare const storage: Parameters<typeof asyncStorage>[0];
declare const preferences: Parameters<typeof capacitorPreferences>[0];
const kept: readonly AppStorage[] = [asyncStorage(storage), capacitorPreferences(preferences)];
const options = { baseUrl: 'https://consent.example', apiKey: 'svc_live_x', origin: 'app://com.example.shop' };
const consent: ConsentSource = new Consent({ ...options, storage: asyncStorage(storage) });
// @ts-expect-error the storage is missing
new Consent(options);
export const app = createElement(ConsentSourceProvider, { consent: () => consent }, createElement(Gate, { category: 'analytics' }));
const names = kept.map((one) => one.keys());
`;

describe('the built SDK packages', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-sdk-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(Object.entries(MOST_BYTES))('%s is not larger than stated', async (_, { files, most }) => {
    const bytes = await Promise.all(files.map((name) => readFile(join(SDK, name))));
    const sizes = bytes.map((one) => gzipSync(one, { level: 9 }).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(most);
  });

  test('the SDKs state the versions of their packages', async () => {
    const versionOf = async (name: string): Promise<string> =>
      z.object({ version: z.string() }).parse(JSON.parse(await readFile(join(SDK, name, 'package.json'), 'utf8')))
        .version;
    expect(VERSION).toBe(await versionOf('node'));
    expect(await readFile(join(SDK, 'browser/dist/consent.js'), 'utf8')).toContain(
      `"browser ${await versionOf('browser')}"`,
    );
  });

  test.each(['placeholder', 'opt-out'])(
    'the file %s states the version of its package, and evaluates no text and writes no HTML',
    async (name) => {
      const text = await readFile(join(SDK, `browser/dist/${name}.js`), 'utf8');
      expect(text).toContain(`"browser ${VERSION}"`);
      expect(text).not.toMatch(/\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write|cssText/);
    },
  );

  test('the panel of a developer evaluates no text, writes no HTML and no style attribute, and no other file names it', async () => {
    const read = (name: string) => readFile(join(SDK, 'browser/dist', name), 'utf8');
    expect(await read('inspect.js')).not.toMatch(
      /\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\.style\b|srcdoc/,
    );
    for (const name of ['consent.js', 'index.js', 'gate.js', 'placeholder.js', 'opt-out.js'])
      expect(await read(name)).not.toContain('inspect.js');
  });

  test('the browser bundle evaluates no text as code, and writes no HTML and no style attribute', async () => {
    const text = await readFile(join(SDK, 'browser/dist/consent.js'), 'utf8');
    expect(text).not.toMatch(
      /\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write(?:ln)?\(|\.style\b/,
    );
  });

  test('a strict project uses the packed packages, whose types need no other package', async () => {
    for (const name of ['browser', 'conformance', 'mobile', 'node', 'react']) {
      // As `npm pack` does before it packs.
      await run(process.execPath, [join(SDK, 'shared/build-types.js')], { cwd: join(SDK, name) });
      const { files } = Package.parse(JSON.parse(await readFile(join(SDK, name, 'package.json'), 'utf8')));
      const to = join(folder, 'node_modules/@consent-ledger', name);
      await mkdir(to, { recursive: true });
      for (const file of ['package.json', ...files])
        await cp(join(SDK, name, file), join(to, file), { recursive: true });
    }
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'use.ts'), USE);
    await writeFile(join(folder, 'app.ts'), APP_USE);
    // The peer of the package for React.
    await mkdir(join(folder, 'node_modules/@types'));
    await symlink(REACT_TYPES, join(folder, 'node_modules/@types/react'));
    const compilerOptions = {
      module: 'NodeNext',
      target: 'ES2022',
      lib: ['ES2022', 'DOM', 'DOM.Iterable'],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
    };
    const projects = {
      'page.json': { compilerOptions, files: ['use.ts'] },
      'app.json': { compilerOptions: { ...compilerOptions, lib: ['ES2022'] }, files: ['app.ts'] },
    };
    for (const [project, content] of Object.entries(projects)) {
      await writeFile(join(folder, project), JSON.stringify(content));
      for (const compiler of COMPILERS) {
        const { stdout } = await run(process.execPath, [compiler, '--noEmit', '-p', join(folder, project)]).catch(
          (error: { stdout: string }) => error,
        );
        expect(stdout, `${compiler} ${project}`).toBe('');
      }
    }
    // Bundlers drop an import for its effect from a file that is not among the `sideEffects`.
    for (const [file, effect] of [
      ['consent.js', 'consentLedger'],
      ['iab-stub.js', '__tcfapi'],
    ] as const) {
      const stdin = { contents: `import '@consent-ledger/browser/${file}';`, resolveDir: folder };
      const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'esm', logLevel: 'silent' });
      expect(outputFiles[0]?.text).toContain(effect);
    }
    const printed = await run(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `
      import { ConsentLedger } from '@consent-ledger/node';
      await new ConsentLedger({ baseUrl: 'http://127.0.0.1:1', apiKey: 'svc_live_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', attempts: 1 }).ping().catch(({ code }) => console.log(code));
    `,
      ],
      { cwd: folder },
    );
    expect(printed.stdout).toBe('NO_ANSWER\n');
  });

  test('sdk/shared/tool-api.ts is what the OpenAPI document says (npm run build)', async () => {
    const generated = join(folder, 'tool-api.ts');
    await run(process.execPath, [join(SDK, 'shared/generate-types.js'), generated]);
    expect(await readFile(join(SDK, 'shared/tool-api.ts'), 'utf8')).toBe(await readFile(generated, 'utf8'));
  });
});
