import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { VERSION as SDK_VERSION } from '../../sdk/node/src/version.js';
import { VERSION } from '../../src/platform/version.js';
import { type Import, importedFile, importsOf, ROOT, sourceFiles } from './import-graph.js';

/** Parts that each part may import besides itself: dependencies point one way. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  schemas: [],
  projections: ['schemas'],
  // The verifier draws the banner as the person saw it.
  'verifier-cli': ['schemas', 'sdk/banner'],
  // The SDKs know the service by its contract alone. The one for Node checks answers with its schemas.
  'sdk/shared': [],
  'sdk/core': ['sdk/shared'],
  'sdk/banner': [],
  'sdk/browser': ['sdk/banner', 'sdk/core', 'sdk/shared'],
  // States the rules by itself: it must find a fault of the core.
  'sdk/conformance': [],
  'sdk/mobile': ['sdk/core', 'sdk/shared'],
  // A file of its own, which the page loads if the site speaks the signals of IAB.
  'sdk/iab': ['sdk/core', 'sdk/shared'],
  'sdk/node': ['sdk/core', 'sdk/shared', 'schemas'],
  'sdk/react': ['sdk/browser', 'sdk/core', 'sdk/shared'],
  // So does the dashboard, which shows the banner of the SDK and reads time stamps. Its build collects licences.
  dashboard: ['sdk/banner', 'sdk/browser', 'schemas', 'scripts'],
  src: ['schemas', 'projections'],
  // Benchmarks set up the sites that tests set up.
  bench: ['src', 'schemas', 'projections', 'test'],
};

const isNetworkFile = (file: string): boolean => file.startsWith('verifier-cli/src/network/');

/** The part that a relative import leads into; null for a package. */
function partOf(found: Import): string | null {
  const folders = importedFile(found)?.split('/') ?? [];
  return folders.slice(0, folders[0] === 'sdk' ? 2 : 1).join('/') || null;
}

test('each part imports only itself, the parts that the table allows, and packages', () => {
  const foreign = Object.entries(MAY_IMPORT).flatMap(([part, allowed]) => {
    const imports = importsOf(part);
    expect(imports, part).not.toEqual([]);
    return imports.filter((found) => {
      const into = partOf(found);
      return into !== null && into !== part && !allowed.includes(into);
    });
  });
  expect(foreign).toEqual([]);
});

test('schemas reaches Node only through schemas/crypto, so that a browser can run the rest', () => {
  const outside = importsOf('schemas').filter(
    ({ file, specifier }) => specifier.startsWith('node:') && !file.startsWith('schemas/crypto/'),
  );
  expect(outside).toEqual([]);
});

test('the verifier imports nothing that can open a socket', () => {
  const network =
    /^node:(?:net|tls|http|https|http2|dgram|dns|child_process|worker_threads)(?:$|\/)|^(?:undici|pg|fastify)$/;
  const found = [...importsOf('verifier-cli'), ...importsOf('schemas')].filter(
    ({ file, specifier }) => network.test(specifier) && !isNetworkFile(file),
  );
  expect(found).toEqual([]);
});

test('the witness and the monitor, which use the network, are a program of their own', () => {
  const found = importsOf('verifier-cli').filter(
    (one) => isNetworkFile(importedFile(one) ?? '') && !isNetworkFile(one.file),
  );
  expect(found).toEqual([]);
  expect(importsOf('verifier-cli').some(({ file }) => isNetworkFile(file))).toBe(true);
});

test('the SDKs need no package but what they bundle and the peer, and only the one for Node something of Node', () => {
  const mayImport: Readonly<Record<string, RegExp>> = {
    'sdk/node/': /^node:/,
    'sdk/mobile/': /^@noble\/hashes\//,
    'sdk/react/': /^react$/,
  };
  const folders = ['browser', 'conformance', 'mobile', 'node', 'react'].map((name) => `sdk/${name}/src`);
  const parts = ['sdk/shared', 'sdk/core', ...folders];
  const packages = parts
    .flatMap(importsOf)
    .filter(
      ({ file, specifier }) =>
        !specifier.startsWith('.') &&
        !Object.entries(mayImport).some(([part, allowed]) => file.startsWith(part) && allowed.test(specifier)),
    );
  expect(packages).toEqual([]);
});

test('the dishonest operator of the tests shares no code with what it attacks', () => {
  const folder = 'test/verifier/dishonest-operator';
  const outside = importsOf(folder).flatMap((found) => {
    const file = importedFile(found);
    return file === null || file.startsWith(`${folder}/`) ? [] : [file];
  });
  // The verifier's public entry evaluates the bytes, documented-outcomes.ts holds its report against
  // its own table, causes.ts knows the report, sweeps.ts chooses cases, and harmless-bytes.ts only the ZIP.
  expect([...new Set(outside)].sort()).toEqual([
    'test/support/sweeps.ts',
    'test/verifier/causes.ts',
    'test/verifier/documented-outcomes.ts',
    'test/verifier/harmless-bytes.ts',
    'verifier-cli/src/index.ts',
  ]);
});

test('the environment is read in one place', () => {
  const reads = /^(?!\s*(?:\*|\/\/)).*process\.env/m;
  const readers = readdirSync(resolve(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && reads.test(readFileSync(resolve(ROOT, 'src', name), 'utf8')))
    .sort();
  // The command line and the other processes of `serve`; and what passes the environment on, to PostgreSQL's programs and
  // to those of the demonstration.
  expect(readers).toEqual([
    'app/api-process.ts',
    'app/first-api-process.ts',
    'app/worker-process.ts',
    'demo/demonstrate.ts',
    'main.ts',
    'platform/database/embedded/settings.ts',
  ]);
});

test('every package states the version that the command line prints', () => {
  const versionOf = (path: string): unknown => JSON.parse(readFileSync(resolve(ROOT, path), 'utf8')).version;
  const sdks = ['browser', 'conformance', 'mobile', 'node', 'react'].map((name) => `sdk/${name}`);
  const packages = ['.', 'bin', 'verifier-cli', ...sdks, 'dashboard'].map((folder) => `${folder}/package.json`);
  expect(new Set([...packages.map(versionOf), SDK_VERSION])).toEqual(new Set([VERSION]));
});

test('pkijs, which checks time stamps, has the same asn1js as the service, beside that of the library of passkeys', () => {
  const Lock = z.object({ packages: z.record(z.string(), z.looseObject({ version: z.string().optional() })) });
  const { packages } = Lock.parse(JSON.parse(readFileSync(resolve(ROOT, 'package-lock.json'), 'utf8')));
  const copies = Object.keys(packages).filter((path) => /(?:^|\/)node_modules\/(?:asn1js|pkijs)$/.test(path));
  const own = copies.filter((path) => !path.startsWith('node_modules/@peculiar/'));
  expect(own).toEqual(['node_modules/asn1js', 'node_modules/pkijs']);
  const stated = createRequire(resolve(ROOT, 'package.json'));
  const ofPkijs = createRequire(stated.resolve('pkijs'));
  expect(ofPkijs.resolve('asn1js')).toBe(stated.resolve('asn1js'));
  const Package = z.object({ dependencies: z.looseObject({ asn1js: z.string(), pkijs: z.string() }) });
  const { dependencies } = Package.parse(JSON.parse(readFileSync(resolve(ROOT, 'package.json'), 'utf8')));
  expect(packages['node_modules/asn1js']?.version).toBe(dependencies.asn1js);
  // The library of passkeys uses an older one, each package its own copy.
  expect(packages['node_modules/@peculiar/asn1-schema/node_modules/asn1js']?.version).toMatch(/^3\./);
});

test('zod is imported by its namespace, of which a bundle then has only what it uses', () => {
  const whole = ['src', 'schemas', 'projections', 'sdk', 'verifier-cli/src', 'dashboard/src']
    .flatMap(sourceFiles)
    .filter((file) => /import (?:type )?\{ z \} from 'zod'/.test(readFileSync(resolve(ROOT, file), 'utf8')));
  expect(whole).toEqual([]);
});
