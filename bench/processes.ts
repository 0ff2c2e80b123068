import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedPostgres } from '../src/platform/database/embedded/index.js';
import type { SiteFixture } from '../test/pipeline/admission/site-fixture.js';
import type { LoadResult } from './messages.js';
import { settled } from './pipeline-backlog.js';
import { postgresCpuMs } from './processor-time.js';
import { median, printRatio } from './report.js';
import { RequestLoad, singleConsents } from './request-load.js';
import { openServeBench, type ServeBench } from './serve.js';

const ROUNDS = 5;
const REQUESTS = 10_000;
const WARM_UP = 12_000;
const CONNECTIONS = 128;
const COUNTS = [1, 2] as const;
/** Two processes on two processors must lose nothing; this much is noise. */
const GOAL = 0.95;

interface Round {
  readonly load: LoadResult;
  /** Processor milliseconds until all stages have ended; not a number without /proc. */
  readonly api: number;
  readonly worker: number;
  readonly postgres: number;
}

/**
 * Compares `serve` with two processes that answer callers with `serve` with one, in alternating rounds
 * on one database. Both run all the time: one of them gets the load, and one of the two workers has it.
 */
export async function benchProcesses(postgres: EmbeddedPostgres, key: Uint8Array, site: SiteFixture): Promise<void> {
  // One installation: a worker refuses a ledger whose head its folder does not know.
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-bench-processes-'));
  const start = (count: number): Promise<ServeBench> =>
    openServeBench(postgres, Buffer.from(key), site, { API_PROCESSES: String(count), DATA_DIR: folder });
  const benches = { 1: await start(1), 2: await start(2) };
  const load = new RequestLoad();
  const rounds: Readonly<Record<1 | 2, Round[]>> = { 1: [], 2: [] };
  try {
    for (const count of COUNTS) await measure(benches, count, load, site, WARM_UP);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const count of round % 2 === 0 ? COUNTS : COUNTS.toReversed()) {
        rounds[count].push(await measure(benches, count, load, site, REQUESTS));
      }
    }
  } finally {
    await load.stop();
    for (const count of COUNTS) await benches[count].close();
    await rm(folder, { recursive: true, force: true });
  }
  const ratios = rounds[2].map(({ load }, i) => (rounds[1][i]?.load.ms ?? Number.NaN) / load.ms);
  printRatio('Single consents through serve with two processes for callers, against one', GOAL, ratios);
  for (const count of COUNTS) {
    const of = (pick: (round: Round) => number): number => median(rounds[count].map(pick));
    const each = (pick: (round: Round) => number): string => `${((of(pick) * 1000) / REQUESTS).toFixed(0)} µs`;
    console.log(
      `  ${count}: ${Math.round((REQUESTS / of(({ load }) => load.ms)) * 1000)}/s; p50 ` +
        `${of(({ load }) => load.latency.p50).toFixed(0)}, p99 ${of(({ load }) => load.latency.p99).toFixed(0)} ms; processor time ` +
        `of each: API ${each((r) => r.api)}, worker ${each((r) => r.worker)}, PostgreSQL ${each((r) => r.postgres)}, ` +
        `load generator ${each((r) => r.load.cpuMs)}`,
    );
  }
  console.log(`  ${REQUESTS} requests a round over ${CONNECTIONS} connections, all stages running.`);
}

async function measure(
  benches: Readonly<Record<1 | 2, ServeBench>>,
  count: 1 | 2,
  load: RequestLoad,
  site: SiteFixture,
  requests: number,
): Promise<Round> {
  const { owner, postmaster, serve } = benches[count];
  const use = async () => {
    const { main } = await serve.use();
    const workers = await Promise.all(COUNTS.map(async (each) => (await benches[each].serve.use()).worker?.cpuMs));
    return {
      api: main.cpuMs ?? Number.NaN,
      worker: workers.reduce<number>((sum, ms) => sum + (ms ?? Number.NaN), 0),
      postgres: (await postgresCpuMs(postmaster)) ?? Number.NaN,
    };
  };
  await load.prepare(singleConsents(site, serve.port, requests, CONNECTIONS));
  await settled(owner);
  const before = await use();
  const result = await load.run();
  await settled(owner);
  const after = await use();
  return {
    load: result,
    api: after.api - before.api,
    worker: after.worker - before.worker,
    postgres: after.postgres - before.postgres,
  };
}
