import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { changesOf, otherVersions, setVersion } from '../../scripts/release/versions.js';
import { VERSION } from '../../src/platform/version.js';

const ROOT = new URL('../../', import.meta.url);
const Root = z.looseObject({ version: z.string(), workspaces: z.array(z.string()) });
const { version, workspaces } = Root.parse(JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8')));
const Package = z.looseObject({ name: z.string(), private: z.boolean().optional() });
const DAY = '2027-01-02';

/** A copy of the files that state the version, with something to release. */
async function copied(): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-release-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = [
    ...['package.json', 'package-lock.json', 'CHANGELOG.md', 'docs/operations.md', 'src/platform/version.ts'],
    ...['verifier-cli/src/version.ts', 'sdk/node/src/version.ts', 'sdk/browser/src/banner/presentation.ts'],
    ...workspaces.map((name) => `${name}/package.json`),
  ];
  for (const name of files) await cp(new URL(name, ROOT), join(folder, name));
  await writeFile(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n- News\n\n## [0.1.0]\n\n- Old\n');
  return pathToFileURL(`${folder}/`);
}

it('all packages state one version', async () => {
  expect(await otherVersions(ROOT)).toEqual([]);
  expect(VERSION).toBe(version);
});

it('sets the version everywhere, and gives it what is unreleased', async () => {
  const root = await copied();
  await setVersion(root, '1.0.0-rc.1', DAY);
  expect(await otherVersions(root)).toEqual([]);
  const read = (name: string) => readFile(new URL(name, root), 'utf8');
  expect(await read('docs/operations.md')).toContain('newTag: 1.0.0-rc.1 }');
  expect(await read('sdk/node/src/version.ts')).toContain("'1.0.0-rc.1'");
  expect(await read('package.json')).toBe(
    (await readFile(new URL('package.json', ROOT), 'utf8')).replace(`"${version}"`, '"1.0.0-rc.1"'),
  );
  const changelog = await read('CHANGELOG.md');
  expect(changelog).toContain(`## [1.0.0-rc.1] - ${DAY}\n`);
  expect(changesOf(changelog, '1.0.0-rc.1')).toBe('- News\n');
  await expect(setVersion(root, '1.0.0-rc.2', DAY)).rejects.toThrow('nothing under "Unreleased"');
  expect(() => changesOf(changelog, '1.0.0')).toThrow('says nothing about 1.0.0');
});

it('refuses what is no version, and a place that states another one', async () => {
  const root = await copied();
  await expect(setVersion(root, '1.0', DAY)).rejects.toThrow('"1.0" is no version');
  await writeFile(new URL('sdk/node/src/version.ts', root), "export const VERSION = '0.0.9';\n");
  await expect(setVersion(root, '1.0.0', DAY)).rejects.toThrow('sdk/node/src/version.ts');
});

it('signs the checksums with the key that it is given', async () => {
  const folder = dirname(fileURLToPath(await copied()));
  const at = await mkdtemp(join(folder, 'consent-ledger-sign-'));
  onTestFinished(() => rm(at, { recursive: true, force: true }));
  await writeFile(join(at, 'SHA256SUMS'), 'checksums\n');
  const run = (program: string, ...args: string[]) => spawnSync(program, args, { cwd: at, encoding: 'utf8' }).status;
  expect(run('openssl', 'genpkey', '-algorithm', 'ed25519', '-out', 'key')).toBe(0);
  expect(run(fileURLToPath(new URL('scripts/release/sign.sh', ROOT)), at, 'key')).toBe(0);
  const verify = ['pkeyutl', '-verify', '-rawin', '-pubin', '-inkey', 'release.pub', '-sigfile', 'SHA256SUMS.sig'];
  expect(run('openssl', ...verify, '-in', 'SHA256SUMS')).toBe(0);
  await writeFile(join(at, 'SHA256SUMS'), 'others\n');
  expect(run('openssl', ...verify, '-in', 'SHA256SUMS')).toBe(1);
});

it.each(['', 'git@git.example.org:owner/name', 'https://git.example.org'])(
  'refuses a release whose packages would not say where the project lives: %j',
  async (url) => {
    const folder = join(dirname(fileURLToPath(await copied())), `release-${process.pid}`);
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { status, stderr } = spawnSync(fileURLToPath(new URL('scripts/release/make.sh', ROOT)), [folder], {
      encoding: 'utf8',
      env: { ...process.env, REPOSITORY_URL: url },
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining('Set REPOSITORY_URL')]);
    expect(await readdir(dirname(folder))).not.toContain(`release-${process.pid}`);
  },
);

it('writes repository, home page and tracker into every package of a release', async () => {
  const root = await copied();
  await cp(new URL('scripts/release/set-home.js', ROOT), new URL('scripts/release/set-home.js', root));
  const set = fileURLToPath(new URL('scripts/release/set-home.js', root));
  expect(spawnSync(process.execPath, [set, 'https://git.example.org/owner/name']).status).toBe(0);
  for (const folder of ['', ...workspaces.map((name) => `${name}/`)]) {
    const content: unknown = JSON.parse(await readFile(new URL(`${folder}package.json`, root), 'utf8'));
    const { private: isPrivate, name } = Package.parse(content);
    if (isPrivate !== true || name === 'consent-ledger')
      expect(content).toMatchObject({
        repository: { type: 'git', url: 'git+https://git.example.org/owner/name.git' },
        homepage: 'https://git.example.org/owner/name#readme',
        bugs: { url: 'https://git.example.org/owner/name/issues' },
      });
  }
  expect(await readFile(new URL('package.json', ROOT), 'utf8')).not.toContain('"repository"');
});

it('pins each action of the workflows by commit, and names its version', async () => {
  const folder = new URL('.github/workflows/', ROOT);
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(new URL(name, folder), 'utf8')));
  const used = texts.flatMap((text) => [...text.matchAll(/^ *-? uses: (.*)$/gm)].map(([, action = '']) => action));
  expect(used.length).toBeGreaterThan(5);
  for (const action of used) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
