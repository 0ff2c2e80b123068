import { fork } from 'node:child_process';
import { createSecretKey, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { EmbeddedPostgres } from '../src/platform/database/embedded/index.js';
import { createPool, type PoolOptions, withTransaction } from '../src/platform/database/pool.js';
import { createKeyring } from '../src/platform/keys/index.js';
import { signedHeaders } from '../test/support/signed-requests.js';
import { cookieConsent } from './consents.js';
import { latenciesOf } from './latencies.js';
import { type FloodCommand, FloodResult, type Latencies, nextMessage } from './messages.js';
import { postgresCpuMs, postmasterPid } from './processor-time.js';
import { median } from './report.js';
import { RunningRole } from './running-role.js';

/** Length of one flood, and of one baseline. */
const SECONDS = Number(process.env.BENCH_SECONDS ?? '60');
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? '3');
/** Only the floods whose names contain it. */
const ONLY = process.env.BENCH_FLOOD ?? '';
/** `consent-ledger.js` of another version, built: its baseline is measured in the same run. */
const BEFORE = process.env.BENCH_BEFORE;
/** The neighbour is measured for so long after the end of a flood too. */
const AFTER_SECONDS = 10;
const WARM_UP_SECONDS = 10;
/** A flood may make the neighbour's p99 so many times as long. */
const GOAL = 3;
/** Without a flood it may be so many times that of the version before. */
const GOAL_BEFORE = 1.1;
const CONNECTIONS = 20;
const MANY_NETWORKS = 10_000;
/** Records of the person that the floods of reading ask for. */
const PERSON_RECORDS = Number(process.env.BENCH_RECORDS ?? '5000');
/** Leaves of the ledger that exist once the person's records are sealed. */
const LEAVES = 4;
const BATCH_OF = 100;
/** Just below the limit of the metadata of one consent. */
const METADATA_CHARACTERS = 15_000;
const METRICS_TOKEN = 'metrics'.repeat(6);

const Seeded = z.object({
  site: z.object({ id: z.string() }),
  keys: z.object({ read: z.string(), write: z.string() }),
  api_user: z.object({ email: z.string(), password: z.string() }),
  panel_user: z.object({ email: z.string(), password: z.string() }),
  documents: z.array(
    z.object({
      kind: z.string(),
      versions: z.array(z.object({ id: z.string(), language: z.string(), state: z.string() })),
    }),
  ),
});

/** A tenant of `admin seed-demo`. */
type Tenant = z.infer<typeof Seeded> & { readonly cookieVersion: string };

type Neighbour = Tenant & { readonly users: Tenant['panel_user'][] };

/** The user who has not signed in for the longest time. */
function nextUser({ users, panel_user }: Neighbour): Tenant['panel_user'] {
  const user = users.shift() ?? panel_user;
  users.push(user);
  return user;
}

/** What the neighbour does, each measured by itself. */
const ACTS = ['consent', 'sign-in', 'ping'] as const;
type Act = (typeof ACTS)[number];
/** Milliseconds between two of them. */
const EVERY_MS: Readonly<Record<Act, number>> = { consent: 50, 'sign-in': 1_000, ping: 100 };

interface Measured {
  readonly latencies: Readonly<Record<Act, Latencies>>;
  /** Answers that are not those of success. */
  readonly refused: number;
  /** Longest delay of an event loop of the service, in milliseconds. */
  readonly longestDelay: number;
  /** Processor seconds of the API and of PostgreSQL in a second. */
  readonly busy: { readonly api: number; readonly postgres: number };
}

interface Flood {
  readonly name: string;
  readonly command: Omit<FloodCommand, 'port' | 'ms'>;
  /** The flood whose p99 this one is compared with; the time without a flood if there is none. */
  readonly against?: string;
}

/**
 * Measures what one tenant notices while a stranger or another tenant, with the default limits, floods the
 * service: the p99 of 20 consents, a sign-in and ten pings a second, during the flood and ten seconds after
 * it, against that without one. The service runs as a user starts it, with all of its parts.
 */
export async function benchNeighbours(postgres: EmbeddedPostgres, key: Uint8Array): Promise<void> {
  const masterKey = Buffer.from(key);
  const page = await startPages();
  const env = {
    TRUSTED_PROXIES: '127.0.0.1',
    SIGN_UP: 'open',
    SCAN_NETWORKS: '127.0.0.1/32',
    METRICS_TOKEN,
  };
  const postmaster = await postmasterPid(postgres.superuserUrl);
  let serve = await RunningRole.start('serve', postgres.superuserUrl, masterKey, env);
  try {
    const neighbour = await seedNeighbour(serve);
    const flooder = await seed(serve);
    // A tenant may scan six times a minute: the hostile page is scanned by one who has not scanned yet.
    const scanner = await seed(serve);
    for (const tenant of [flooder, scanner]) await letScan(postgres.superuserUrl, masterKey, tenant);
    const person = randomUUID();
    const tokens = await recordPerson(`http://127.0.0.1:${serve.port}`, flooder, person);
    const of = { port: serve.port, flooder, scanner, person, tokens, pagePort: page.port };
    // A user's token ends within a long run.
    const floodsOfRound = async () => (await floodsOf(of)).filter(({ name }) => name.includes(ONLY));
    const named = await floodsOfRound();
    const measure = (seconds: number) => measureNeighbour(serve, postmaster, neighbour, seconds);
    await measure(WARM_UP_SECONDS);
    const quiet: Measured[] = [];
    const measured = new Map<string, { readonly results: Measured[]; readonly statuses: FloodResult[] }>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { name, command } of await floodsOfRound()) {
        quiet.push(await measure(SECONDS));
        const flooding = startFlood({ ...command, port: serve.port, ms: SECONDS * 1000 });
        const result = await measure(SECONDS + AFTER_SECONDS);
        const all = measured.get(name) ?? { results: [], statuses: [] };
        all.results.push(result);
        all.statuses.push(await flooding);
        measured.set(name, all);
      }
    }
    const baseline = p99Of(quiet);
    console.log(`A neighbour's p99 during floods of ${SECONDS} s, ${ROUNDS} rounds (goal: ${GOAL} times that without)`);
    console.log(`  without: ${describe(quiet)}`);
    for (const { name, against } of named) {
      const { results, statuses } = measured.get(name) ?? { results: [], statuses: [] };
      const base = against === undefined ? baseline : p99Of(measured.get(against)?.results ?? []);
      const ratios = ACTS.map((act) => p99Of(results)[act] / base[act]);
      const isMet = ratios.every((ratio) => ratio <= GOAL);
      const shown = ACTS.map((act, i) => `${act} ${(ratios[i] ?? 0).toFixed(1)}`).join(', ');
      console.log(`  ${name}: ${shown} times (${isMet ? 'met' : 'missed'}); ${describe(results)}`);
      console.log(`    answers: ${statuses.map((one) => JSON.stringify(one.statuses)).join(' ')}`);
    }
    if (BEFORE !== undefined) {
      await serve.stop();
      serve = await RunningRole.start('serve', await databaseBefore(postgres), masterKey, env, BEFORE);
      const same = await seedNeighbour(serve);
      await measureNeighbour(serve, postmaster, same, WARM_UP_SECONDS);
      const before: Measured[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        before.push(await measureNeighbour(serve, postmaster, same, SECONDS));
      const ratios = ACTS.map((act) => baseline[act] / p99Of(before)[act]);
      const isMet = ratios.every((ratio) => ratio <= GOAL_BEFORE);
      console.log(
        `  without a flood, against the version before: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')} times ` +
          `(goal ${GOAL_BEFORE}, ${isMet ? 'met' : 'missed'}); before: ${describe(before)}`,
      );
    }
  } finally {
    await serve.stop();
    await page.close();
  }
}

/** The tenant that is measured, with users enough for a sign-in each second: one may sign in 30 times a minute. */
async function seedNeighbour(serve: RunningRole): Promise<Neighbour> {
  const neighbour = await seed(serve, '--rate-limit', '100000', '--quota', '10000000');
  const users = [neighbour, await seed(serve)].flatMap((tenant) => [tenant.panel_user, tenant.api_user]);
  return { ...neighbour, users };
}

/** The pool by which the benchmark changes what no user can. */
function setUpOf(url: string): PoolOptions {
  return {
    url,
    applicationName: 'bench set-up',
    maxConnections: 2,
    statementTimeoutMs: 60_000,
    onIdleError: () => undefined,
  };
}

/** @returns the address of an empty database for the version before, which refuses a newer schema */
async function databaseBefore({ superuserUrl }: EmbeddedPostgres): Promise<string> {
  const pool = createPool(setUpOf(superuserUrl));
  await pool.query('create database before');
  await pool.end();
  const url = new URL(superuserUrl);
  url.pathname = '/before';
  return url.href;
}

async function seed(serve: RunningRole, ...options: readonly string[]): Promise<Tenant> {
  const { stdout } = await serve.command('admin', 'seed-demo', '--json', ...options);
  const tenant = Seeded.parse(JSON.parse(stdout));
  const policy = tenant.documents.find(({ kind }) => kind === 'cookie_policy');
  const cookieVersion = policy?.versions.find(({ language, state }) => language === 'en' && state === 'active')?.id;
  if (cookieVersion === undefined) throw new Error('the example tenant has no policy');
  return { ...tenant, cookieVersion };
}

/** Makes the pages of the benchmark those of the tenant's site. */
async function letScan(url: string, masterKey: Buffer, { site }: Tenant): Promise<void> {
  const options = setUpOf(url);
  const keyPool = createPool(options);
  const keyring = await createKeyring(keyPool, createSecretKey(masterKey));
  const owner = createPool({ ...options, transactions: keyring.sealing });
  await withTransaction(owner, (db) =>
    db.query("update sites set domain = 'localhost', config_revision = config_revision + 1 where id = $1", [site.id]),
  );
  await Promise.all([owner.end(), keyPool.end()]);
}

/** The neighbour's acts at their times, whether or not those before were answered. */
async function measureNeighbour(
  serve: RunningRole,
  postmaster: number,
  tenant: Neighbour,
  seconds: number,
): Promise<Measured> {
  const times: Record<Act, number[]> = { consent: [], 'sign-in': [], ping: [] };
  const open = new Set<Promise<void>>();
  let refused = 0;
  await longestDelay(serve.port);
  const before = {
    api: (await serve.use()).main.cpuMs ?? Number.NaN,
    postgres: (await postgresCpuMs(postmaster)) ?? Number.NaN,
  };
  const begin = performance.now();
  const timers = ACTS.map((act) =>
    setInterval(() => {
      const from = performance.now();
      const answered = perform(serve.port, tenant, act)
        .catch(() => false)
        .then((isGood) => {
          times[act].push(performance.now() - from);
          if (!isGood) refused += 1;
          open.delete(answered);
        });
      open.add(answered);
    }, EVERY_MS[act]),
  );
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  for (const timer of timers) clearInterval(timer);
  await Promise.all(open);
  const ms = performance.now() - begin;
  const api = ((await serve.use()).main.cpuMs ?? Number.NaN) - before.api;
  const pg = ((await postgresCpuMs(postmaster)) ?? Number.NaN) - before.postgres;
  return {
    latencies: {
      consent: latenciesOf(times.consent),
      'sign-in': latenciesOf(times['sign-in']),
      ping: latenciesOf(times.ping),
    },
    refused,
    longestDelay: await longestDelay(serve.port),
    busy: { api: api / ms, postgres: pg / ms },
  };
}

async function perform(port: number, tenant: Neighbour, act: Act): Promise<boolean> {
  const base = `http://127.0.0.1:${port}`;
  if (act === 'ping')
    return isAnswered(await fetch(`${base}/tool/v1/ping`, { headers: { 'x-api-key': tenant.keys.read } }));
  if (act === 'sign-in') return isAnswered(await signIn(base, nextUser(tenant)));
  const path = '/tool/v1/consents';
  const body = JSON.stringify(cookieConsent(tenant.cookieVersion));
  return isAnswered(
    await fetch(base + path, { method: 'POST', body, headers: signedHeaders(tenant.keys.write, path, body) }),
  );
}

async function isAnswered(response: Response): Promise<boolean> {
  await response.arrayBuffer();
  return response.ok;
}

function signIn(base: string, user: { readonly email: string; readonly password: string }): Promise<Response> {
  return fetch(`${base}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.1' },
    body: JSON.stringify(user),
  });
}

/** Longest delay since the last reading, in milliseconds. */
async function longestDelay(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}` },
  });
  const lines = (await response.text()).matchAll(
    /^nodejs_eventloop_lag_seconds\{[^}]*percentile="100"[^}]*\} (\S+)$/gm,
  );
  return Math.max(0, ...[...lines].map(([, seconds]) => Number(seconds) * 1000));
}

const Login = z.object({ data: z.object({ access_token: z.string() }) });

interface FloodOptions {
  readonly port: number;
  /** The tenant that floods, and the one that has scans made. */
  readonly flooder: Tenant;
  readonly scanner: Tenant;
  /** A visitor of the first one, and tokens of its records. */
  readonly person: string;
  readonly tokens: readonly string[];
  readonly pagePort: number;
}

async function floodsOf(options: FloodOptions): Promise<readonly Flood[]> {
  const { port, flooder, scanner, person, tokens, pagePort } = options;
  const base = `http://127.0.0.1:${port}`;
  const tokenOf = async (user: Tenant['panel_user']): Promise<string> =>
    Login.parse(await (await signIn(base, user)).json()).data.access_token;
  const [owner, apiUser] = [await tokenOf(flooder.panel_user), await tokenOf(flooder.api_user)];
  const none = { headers: {}, body: undefined };
  const json = (value: unknown): string => JSON.stringify(value);
  const reading = { connections: CONNECTIONS, networks: 1, signedBy: null, leaveAfterMs: 3_000, bytesASecond: null };
  const asking = { ...reading, leaveAfterMs: null };
  const api = { 'x-api-key': flooder.keys.read };
  const panel = { authorization: `Bearer ${owner}` };
  const site = `/api/v1/sites/${flooder.site.id}`;
  const batch = json({
    consents: Array.from({ length: BATCH_OF }, () => ({
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: flooder.cookieVersion,
      metadata: { note: 'x'.repeat(METADATA_CHARACTERS) },
      extra_fields: { note: 'y'.repeat(METADATA_CHARACTERS) },
    })),
  });
  const scan = (by: Tenant, path: string) => ({
    ...asking,
    connections: 2,
    signedBy: by.keys.write,
    requests: [
      {
        method: 'POST',
        path: '/tool/v1/scans',
        headers: {},
        body: json({ url: `http://localhost:${pagePort}${path}` }),
      },
    ],
  });
  return [
    {
      name: 'status',
      command: {
        ...reading,
        requests: [
          {
            ...none,
            method: 'GET',
            path: `/tool/v1/consents/status?visitor_id=${person}&consent_type=none`,
            headers: api,
          },
        ],
      },
    },
    {
      name: 'search',
      command: {
        ...reading,
        requests: [
          {
            method: 'POST',
            path: `${site}/consents/search`,
            headers: panel,
            body: json({ person: { by: 'visitor_id', value: person }, reason: 'benchmark', consent_type: 'none' }),
          },
        ],
      },
    },
    {
      name: 'history',
      command: {
        ...reading,
        requests: [
          {
            method: 'POST',
            path: `${site}/consents/search`,
            headers: panel,
            body: json({ person: { by: 'visitor_id', value: person }, reason: 'benchmark' }),
          },
        ],
      },
    },
    {
      name: 'exports',
      command: {
        ...reading,
        requests: [
          {
            ...none,
            method: 'GET',
            path: '/tool/v1/s2s/consents/export?format=ndjson',
            headers: { ...api, authorization: `Bearer ${apiUser}` },
          },
        ],
      },
    },
    {
      name: 'structure files',
      command: {
        ...asking,
        requests: Array.from({ length: LEAVES }, (_, leaf) => ({
          ...none,
          method: 'GET',
          path: `/checkpoints/log/structure/${String(leaf).padStart(3, '0')}`,
        })),
      },
    },
    {
      name: 'public verify',
      command: {
        ...asking,
        networks: MANY_NETWORKS,
        requests: tokens.slice(0, 500).map((token) => ({
          ...none,
          method: 'GET',
          path: `/api/v1/public/consents/verify?token=${token}`,
        })),
      },
    },
    { name: 'scans of a benign page', command: scan(flooder, '/benign') },
    {
      name: 'scans of a hostile page',
      command: scan(scanner, '/hostile'),
      against: 'scans of a benign page',
    },
    {
      name: 'sign-ups',
      command: {
        ...asking,
        networks: MANY_NETWORKS,
        requests: [
          {
            method: 'POST',
            path: '/api/v1/auth/sign-up',
            headers: {},
            body: json({ organisation: 'Flood', email: 'flood-{new}@example.org' }),
          },
        ],
      },
    },
    {
      name: 'batches',
      command: {
        ...asking,
        connections: 3,
        signedBy: flooder.keys.write,
        requests: [{ method: 'POST', path: '/tool/v1/consents/batch', headers: {}, body: batch }],
      },
    },
    {
      name: 'slow readers',
      command: {
        ...asking,
        connections: 200,
        bytesASecond: 4_000,
        requests: [
          { ...none, method: 'GET', path: '/openapi.yaml' },
          { ...none, method: 'GET', path: '/verify' },
          { ...none, method: 'GET', path: '/checkpoints/log/structure/001' },
        ],
      },
    },
    {
      name: 'uploads',
      command: {
        ...asking,
        connections: 200,
        bytesASecond: 4_000,
        signedBy: flooder.keys.write,
        requests: [{ method: 'POST', path: '/tool/v1/consents/batch', headers: {}, body: batch }],
      },
    },
  ];
}

const BatchAnswer = z.object({ data: z.object({ results: z.array(z.object({ consent_token: z.string() })) }) });

/** Records many consents of one person, at the rate that the default limits allow. @returns their tokens */
async function recordPerson(base: string, tenant: Tenant, person: string): Promise<readonly string[]> {
  const tokens: string[] = [];
  const path = '/tool/v1/consents/batch';
  while (tokens.length < PERSON_RECORDS) {
    const consents = Array.from({ length: BATCH_OF }, () => ({
      ...cookieConsent(tenant.cookieVersion, false),
      visitor_id: person,
    }));
    const body = JSON.stringify({ consents });
    const response = await fetch(base + path, {
      method: 'POST',
      body,
      headers: signedHeaders(tenant.keys.write, path, body),
    });
    if (response.status === 429) {
      await response.arrayBuffer();
      await new Promise((resolve) => setTimeout(resolve, Number(response.headers.get('retry-after') ?? '1') * 1000));
      continue;
    }
    tokens.push(...BatchAnswer.parse(await response.json()).data.results.map(({ consent_token }) => consent_token));
  }
  return tokens;
}

/** A page that does no harm, and one that floods what scans it: requests, storage and messages of the browser. */
async function startPages(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const pages = createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    if (request.url === '/hostile') response.end(HOSTILE);
    else if (request.url === '/benign') response.end('<!doctype html><title>Shop</title><p>Seeds.</p>');
    else {
      request.resume();
      request.once('end', () => response.end('x'.repeat(100_000)));
    }
  });
  pages.listen(0, '127.0.0.1');
  await once(pages, 'listening');
  const { port } = pages.address() as AddressInfo;
  return {
    port,
    close: async () => {
      pages.closeAllConnections();
      pages.close();
      await once(pages, 'close');
    },
  };
}

const HOSTILE = `<!doctype html><title>Shop</title><script>
const text = 'x'.repeat(4_000_000);
for (let i = 0; i < 200; i += 1) {
  document.cookie = 'c' + i + '=' + 'y'.repeat(3_000);
  fetch('/upload?' + i, { method: 'POST', body: text }).catch(() => {});
}
const kept = [];
setInterval(() => { kept.push(new Uint8Array(8_000_000).fill(1)); console.log(text.slice(0, 500_000)); }, 10);
</script>`;

async function startFlood(command: FloodCommand): Promise<FloodResult> {
  const child = fork(fileURLToPath(new URL('flood-process.js', import.meta.url)));
  try {
    const result = nextMessage(child, FloodResult);
    child.send(command);
    return await result;
  } finally {
    child.disconnect();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

/** The median of the rounds. */
function p99Of(results: readonly Measured[]): Readonly<Record<Act, number>> {
  const of = (act: Act): number => median(results.map(({ latencies }) => latencies[act].p99));
  return { consent: of('consent'), 'sign-in': of('sign-in'), ping: of('ping') };
}

function describe(results: readonly Measured[]): string {
  const p99 = p99Of(results);
  const middle = (read: (one: Measured) => number): number => median(results.map(read));
  return (
    `p99 ${ACTS.map((act) => `${act} ${p99[act].toFixed(0)}`).join(', ')} ms; ` +
    `${results.reduce((sum, { refused }) => sum + refused, 0)} refused; ` +
    `longest delay of an event loop ${middle(({ longestDelay: ms }) => ms).toFixed(0)} ms; ` +
    `API ${(middle(({ busy }) => busy.api) * 100).toFixed(0)} %, PostgreSQL ${(middle(({ busy }) => busy.postgres) * 100).toFixed(0)} % of a processor`
  );
}
