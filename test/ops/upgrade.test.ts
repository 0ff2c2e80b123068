import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ComposeFolder, composeFolder } from './compose-environment.js';

const script = (name: string): string => fileURLToPath(new URL(`../../ops/compose/${name}`, import.meta.url));

let folder: ComposeFolder;
beforeEach(() => {
  folder = composeFolder();
  mkdirSync(join(folder.path, 'bin'));
  writeFileSync(join(folder.path, 'calls'), '');
});
afterEach(() => folder.remove());

/** Runs `upgrade.sh` with a Docker that writes its calls down. @param failing the call that fails */
function upgrade(args: readonly string[], failing = 'none') {
  const docker = `#!/bin/sh\necho "$@" >> "${folder.path}/calls"\ncase "$*" in *"${failing}") exit 1 ;; esac\n`;
  writeFileSync(join(folder.path, 'bin/docker'), docker, { mode: 0o755 });
  const env = { PATH: `${join(folder.path, 'bin')}:${process.env.PATH ?? ''}` };
  const { status, stderr } = spawnSync(script('upgrade.sh'), args, { cwd: folder.path, env, encoding: 'utf8' });
  const calls = readFileSync(join(folder.path, 'calls'), 'utf8').trim();
  return { status, stderr, calls: calls === '' ? [] : calls.replaceAll('compose ', '').split('\n') };
}

const ONLINE = 'run --rm -T migrate migrate --online';
const REPLACED = ['up -d --wait --no-deps api', 'up -d --wait'];

describe('upgrade.sh', () => {
  it('migrates beside the version before, and then replaces it', () => {
    expect(upgrade([])).toMatchObject({ status: 0, calls: ['build', ONLINE, ...REPLACED] });
  });

  it.each(['build', ONLINE])('replaces nothing if this fails: %s', (failing) => {
    const { status, calls } = upgrade([], failing);
    expect(status).toBe(1);
    expect(calls.at(-1)).toBe(failing);
  });

  it('stops what a migration must not run beside, if it is told to', () => {
    const calls = ['build', 'stop api worker', 'run --rm -T migrate', ...REPLACED];
    expect(upgrade(['--stop'])).toMatchObject({ status: 0, calls });
  });

  it('says how the version before is started again if a migration fails that needed a stop', () => {
    const { status, stderr, calls } = upgrade(['--stop'], 'migrate');
    expect({ status, last: calls.at(-1) }).toEqual({ status: 1, last: 'run --rm -T migrate' });
    expect(stderr).toContain('docker compose start api worker');
  });

  it('changes nothing where it is called wrongly', () => {
    expect(upgrade(['--now'])).toMatchObject({ status: 2, calls: [] });
  });
});

it.each(['upgrade.sh', 'try.sh'])('%s describes itself', (name) => {
  const { status, stdout } = spawnSync(script(name), ['--help'], { encoding: 'utf8' });
  expect({ status, usage: stdout.includes(`ops/compose/${name} `) }).toEqual({ status: 0, usage: true });
});
