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
  folder.makeEnv();
  mkdirSync(join(folder.path, 'bin'));
  writeFileSync(join(folder.path, 'calls'), '');
});
afterEach(() => folder.remove());

interface Given {
  /** The call that fails. */
  readonly failing?: string;
  /** How many containers of the api run. */
  readonly apis?: number;
  /** State of the api of the new version. */
  readonly next?: 'healthy' | 'ended';
}

/** Runs a script with a Docker that writes its calls down, and what the proxy reads. */
function run(name: string, args: readonly string[], { failing = 'none', apis = 1, next = 'healthy' }: Given = {}) {
  const docker = `#!/bin/sh
case "$*" in
  inspect*Health*) echo ${next}; exit ;;
  inspect*Running*) echo ${next === 'healthy'}; exit ;;
  inspect*Name*) echo /next; exit ;;
  'compose ps --quiet api') for i in $(seq ${apis}); do echo $i; done; exit ;;
  'compose ps --format {{.Name}} api') for i in $(seq ${apis}); do echo api-$i; done; exit ;;
  *'caddy reload'*) sed 's/^/proxy: /' private/proxy/upstreams >> "${folder.path}/calls"; exit ;;
esac
echo "$@" >> "${folder.path}/calls"
case "$*" in
  *"${failing}") exit 1 ;;
  *--detach*) echo next ;;
esac
`;
  writeFileSync(join(folder.path, 'bin/docker'), docker, { mode: 0o755 });
  const env = { PATH: `${join(folder.path, 'bin')}:${process.env.PATH ?? ''}` };
  const { status, stderr } = spawnSync(script(name), args, { cwd: folder.path, env, encoding: 'utf8' });
  const calls = readFileSync(join(folder.path, 'calls'), 'utf8').trim();
  return { status, stderr, calls: calls === '' ? [] : calls.replaceAll('compose ', '').split('\n') };
}

const upgrade = (args: readonly string[], given?: Given) => run('upgrade.sh', args, given);

const MIGRATE = 'run --rm -T migrate';
const BESIDE = 'run --detach -T --no-deps --use-aliases api';
const REMOVED = ['stop next', 'rm --force next'];
const TOLD = ['proxy: to api-1:8080 next:8080', 'up -d --wait --scale api=1 --no-deps api', 'proxy: to api-1:8080'];
const replaced = (apis: number) => [
  `up -d --wait --scale api=${apis} --no-deps api`,
  `up -d --wait --scale api=${apis}`,
];

describe('upgrade.sh', () => {
  it('migrates beside the version before, and replaces it while another api of the new version answers', () => {
    const calls = ['build', MIGRATE, BESIDE, ...TOLD, 'up -d --wait --scale api=1', ...REMOVED];
    expect(upgrade([])).toMatchObject({ status: 0, calls });
  });

  it('leaves as many api processes as there were', () => {
    expect(upgrade([], { apis: 2 }).calls).toEqual(expect.arrayContaining(replaced(2)));
    expect(upgrade(['--stop'], { apis: 0 }).calls).toEqual(expect.arrayContaining(replaced(1)));
  });

  it.each(['build', MIGRATE, BESIDE])('replaces nothing if this fails: %s', (failing) => {
    const { status, calls } = upgrade([], { failing });
    expect(status).toBe(1);
    expect(calls.at(-1)).toBe(failing);
  });

  it('replaces nothing if the new version does not start, and removes it', () => {
    const { status, stderr, calls } = upgrade([], { next: 'ended' });
    expect({ status, calls }).toEqual({
      status: 1,
      calls: ['build', MIGRATE, BESIDE, 'logs --tail 20 next', ...REMOVED],
    });
    expect(stderr).toContain('Nothing was replaced');
  });

  it('stops what a migration must not run beside, if it is told to', () => {
    const calls = ['build', 'stop api worker', 'run --rm -T migrate', ...replaced(1)];
    expect(upgrade(['--stop'])).toMatchObject({ status: 0, calls });
  });

  it('says how the version before is started again if a migration fails that needed a stop', () => {
    const { status, stderr, calls } = upgrade(['--stop'], { failing: 'migrate' });
    expect({ status, last: calls.at(-1) }).toEqual({ status: 1, last: 'run --rm -T migrate' });
    expect(stderr).toContain('docker compose start api worker');
  });

  it('changes nothing where it is called wrongly', () => {
    expect(upgrade(['--now'])).toMatchObject({ status: 2, calls: [] });
  });
});

describe('scale.sh', () => {
  const scaled = (apis: number) => `up -d --wait --no-deps --no-recreate --scale api=${apis} api`;

  it('lets the proxy forget an api before it stops', () => {
    // The Docker of the test stops none.
    const calls = ['proxy: to api-1:8080', scaled(1), 'proxy: to api-1:8080 api-2:8080'];
    expect(run('scale.sh', ['1'], { apis: 2 })).toMatchObject({ status: 0, calls });
  });

  it('names the containers of several apis', () => {
    const calls = ['proxy: to api-1:8080 api-2:8080', scaled(3), 'proxy: to api-1:8080 api-2:8080'];
    expect(run('scale.sh', ['3'], { apis: 2 })).toMatchObject({ status: 0, calls });
  });

  it.each(['0', 'two', ''])('changes nothing for %j', (number) => {
    expect(run('scale.sh', [number])).toMatchObject({ status: 2, calls: [] });
  });
});

it.each(['upgrade.sh', 'scale.sh', 'upstreams.sh', 'try.sh'])('%s describes itself', (name) => {
  const { status, stdout } = spawnSync(script(name), ['--help'], { encoding: 'utf8' });
  expect({ status, usage: stdout.includes(`ops/compose/${name} `) }).toEqual({ status: 0, usage: true });
});
