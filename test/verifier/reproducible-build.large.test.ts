import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Files and folders of the repository from which the command is built. */
const SOURCES = ['verifier-cli', 'schemas', 'sdk/banner', 'scripts', 'tsconfig.json'] as const;
const Bill = z.object({ components: z.array(z.object({ name: z.string() })).min(1) });
const Packed = z.tuple([z.object({ filename: z.string() })]);

const folder = mkdtempSync(join(tmpdir(), 'consent-ledger-reproducible-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let first: ReadonlyMap<string, string>;
let second: ReadonlyMap<string, string>;
beforeAll(() => {
  first = buildIn(join(folder, 'a'), { TZ: 'UTC', LANG: 'C', HOME: folder });
  second = buildIn(join(folder, 'another folder', 'deeper', 'b'), {
    TZ: 'Asia/Tokyo',
    LANG: 'tr_TR.UTF-8',
    HOME: folder,
  });
});

test('consent-verify is the same bytes from the same sources, whatever the folder', () => {
  expect([...first.keys()]).toEqual(
    expect.arrayContaining([
      'consent-verify.js',
      'consent-verify-network.js',
      'consent-verify.html',
      'consent-verify.cdx.json',
      'consent-verify.digests.txt',
      'package',
    ]),
  );
  expect(Object.fromEntries(second)).toEqual(Object.fromEntries(first));
});

test('consent-verify is other bytes from other sources', () => {
  const other = join(folder, 'other');
  copySources(other);
  appendFileSync(join(other, 'verifier-cli/src/main.ts'), "\nconsole.log('other');\n");
  const built = build(other, {});
  for (const name of ['consent-verify.js', 'package']) expect(built.get(name), name).not.toBe(first.get(name));
});

function buildIn(copy: string, env: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  copySources(copy);
  return build(copy, env);
}

/** Copies the sources and the libraries in the bundles, as a clone and an installation would have them. */
function copySources(copy: string): void {
  mkdirSync(copy, { recursive: true });
  for (const name of SOURCES) {
    cpSync(join(ROOT, name), join(copy, name), {
      recursive: true,
      filter: (path) => !path.startsWith(join(ROOT, 'verifier-cli/dist')),
    });
  }
  const bill = Bill.parse(JSON.parse(readFileSync(join(ROOT, 'verifier-cli/dist/consent-verify.cdx.json'), 'utf8')));
  // The build fails if the bill of materials lacks a library.
  for (const { name: library } of bill.components) {
    cpSync(join(ROOT, 'node_modules', library), join(copy, 'node_modules', library), { recursive: true });
  }
  // The bundler itself is not in the bundle.
  symlinkSync(join(ROOT, 'node_modules/esbuild'), join(copy, 'node_modules/esbuild'));
}

/** @returns the SHA-256 of each file that the build makes, and of the package for npm as `package` */
function build(copy: string, env: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  const cwd = join(copy, 'verifier-cli');
  const options = { cwd, env: { PATH: process.env.PATH, ...env }, encoding: 'utf8', stdio: 'pipe' } as const;
  execFileSync(process.execPath, ['build.js'], options);
  const [{ filename }] = Packed.parse(
    JSON.parse(execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--offline'], options)),
  );
  const digest = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
  const files = readdirSync(join(cwd, 'dist')).map((name): [string, string] => [name, digest(join(cwd, 'dist', name))]);
  return new Map([...files, ['package', digest(join(cwd, filename))]]);
}
