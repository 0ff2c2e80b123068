import { fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import * as z from 'zod';
import type { EmbeddedPostgres } from '../src/platform/database/embedded/index.js';
import type { SiteFixture } from '../test/pipeline/admission/site-fixture.js';
import { installPackages } from './install-packages.js';
import { type LoadJob, type LoadResult, nextMessage } from './messages.js';
import { settled } from './pipeline-backlog.js';
import { postgresCpuMs, processCpuMs } from './processor-time.js';
import { median, printRatio } from './report.js';
import { RequestLoad, singleConsents } from './request-load.js';
import { openServeBench, type ServeBench } from './serve.js';
import { describeDurability } from './storage.js';

/** Exact versions, so that two runs measure the same programs. */
const PACKAGES = { '@c15t/backend': '2.2.1', '@hono/node-server': '2.1.9', kysely: '0.28.19', pg: '8.23.1' };
const PEER = `@c15t/backend ${PACKAGES['@c15t/backend']}`;
const SERVER = 'peer-server.mjs';
const ROUNDS = 3;
const REQUESTS = 4_000;
const WARM_UP = 1_000;
const CONNECTIONS = 64;
/** Connections of the pool of each service: the default of `DATABASE_POOL_SIZE`. */
const POOL = 10;
const GOAL = 10;

/** One round of one side. */
interface Round {
  readonly load: LoadResult;
  /** Processor milliseconds of the service, until all stages have ended; not a number without /proc. */
  readonly serviceCpuMs: number;
  readonly postgresCpuMs: number;
}

/** One side of the comparison. */
interface Side {
  readonly name: string;
  readonly rounds: Round[];
  job(requests: number): LoadJob;
  /** Resolves when no part of the service has work left. */
  rest(): Promise<unknown>;
  cpuMs(): Promise<number>;
}

/**
 * Sends the same number of single consents to `serve` and to the nearest open consent backend, in
 * alternating rounds. Both keep their data in the same PostgreSQL server, each in a database of its own.
 * npm installs the packages of the other one into a temporary folder.
 * @throws Error if npm cannot install them
 */
export async function benchPeer(postgres: EmbeddedPostgres, key: Uint8Array, site: SiteFixture): Promise<void> {
  const folder = await installPeer();
  try {
    const bench = await openServeBench(postgres, Buffer.from(key), site, { DATABASE_POOL_SIZE: String(POOL) });
    const peer = await startPeer(folder, await createDatabase(postgres.superuserUrl));
    const load = new RequestLoad();
    try {
      const product: Side = {
        name: 'consent-ledger serve',
        rounds: [],
        job: (requests) => singleConsents(site, bench.serve.port, requests, CONNECTIONS),
        rest: () => settled(bench.owner),
        cpuMs: async () => {
          const { main, worker } = await bench.serve.use();
          return (main.cpuMs ?? Number.NaN) + (worker?.cpuMs ?? Number.NaN);
        },
      };
      const other: Side = {
        name: PEER,
        rounds: [],
        job: (requests) => ({
          kind: 'peer',
          port: peer.port,
          requests,
          connections: CONNECTIONS,
          expectedStatus: 200,
        }),
        rest: async () => undefined,
        cpuMs: async () => (await processCpuMs(peer.pid)) ?? Number.NaN,
      };
      await compare(bench, load, product, other);
      await printComparison(bench, product, other);
    } finally {
      await load.stop();
      await peer.stop();
      await bench.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(bench: ServeBench, load: RequestLoad, product: Side, other: Side): Promise<void> {
  for (const side of [product, other]) {
    await load.prepare(side.job(WARM_UP));
    await load.run();
    await side.rest();
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    // The order alternates, so that neither side always runs on the state that the other left.
    for (const side of round % 2 === 0 ? [product, other] : [other, product]) {
      await load.prepare(side.job(REQUESTS));
      side.rounds.push(await measure(bench, load, side));
    }
  }
}

async function measure({ postmaster }: ServeBench, load: RequestLoad, side: Side): Promise<Round> {
  const before = { service: await side.cpuMs(), postgres: await postgresCpuMs(postmaster) };
  const result = await load.run();
  await side.rest();
  return {
    load: result,
    serviceCpuMs: (await side.cpuMs()) - before.service,
    postgresCpuMs: ((await postgresCpuMs(postmaster)) ?? Number.NaN) - (before.postgres ?? Number.NaN),
  };
}

async function printComparison({ owner }: ServeBench, product: Side, other: Side): Promise<void> {
  const ratios = (ms: (round: Round) => number): number[] =>
    product.rounds.map((round, i) => ms(other.rounds[i] ?? round) / ms(round));
  printRatio(
    `Single consents through serve, all stages running, against ${PEER}`,
    GOAL,
    ratios(({ load }) => load.ms),
  );
  for (const { name, rounds } of [product, other]) {
    const of = (pick: (round: Round) => number): number => median(rounds.map(pick));
    const each = (pick: (round: Round) => number): string => `${((of(pick) * 1000) / REQUESTS).toFixed(0)} µs`;
    const rates = rounds.map(({ load }) => Math.round((REQUESTS / load.ms) * 1000));
    console.log(
      `  ${name}: ${rates.join(', ')}/s; p50 ${of(({ load }) => load.latency.p50).toFixed(0)}, ` +
        `p99 ${of(({ load }) => load.latency.p99).toFixed(0)} ms; processor time of each: service ` +
        `${each((r) => r.serviceCpuMs)}, PostgreSQL ${each((r) => r.postgresCpuMs)}, load generator ${each((r) => r.load.cpuMs)}`,
    );
  }
  const cpu = ratios(({ serviceCpuMs, postgresCpuMs }) => serviceCpuMs + postgresCpuMs);
  console.log(`  processor time of service and PostgreSQL, all stages included: ratio ${median(cpu).toFixed(1)}`);
  console.log(
    `  ${REQUESTS} requests a round over ${CONNECTIONS} connections, each of a new person; ${POOL} connections of each ` +
      `service to one PostgreSQL server; ${await describeDurability(owner)}`,
  );
}

/** @returns the folder, with the packages and the program */
async function installPeer(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-bench-peer-'));
  await copyFile(fileURLToPath(new URL(`../bench/${SERVER}`, import.meta.url)), join(folder, SERVER));
  try {
    await installPackages(folder, PACKAGES);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

/** @returns the URL of a new database of the server */
async function createDatabase(serverUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query('create database peer');
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = '/peer';
  return url.href;
}

async function startPeer(folder: string, databaseUrl: string) {
  const child = fork(join(folder, SERVER), [databaseUrl, String(POOL)], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
    // Nothing that the benchmark itself was started with.
    execArgv: [],
  });
  return {
    port: await nextMessage(child, z.int()),
    pid: child.pid ?? 0,
    stop: async () => {
      if (child.connected) child.disconnect();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
