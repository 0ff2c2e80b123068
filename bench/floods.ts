import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { consentToken } from '../schemas/events/consent-recorded.js';
import type { EmbeddedPostgres } from '../src/platform/database/embedded/index.js';
import { createSiteFixture, type SiteFixture } from '../test/pipeline/admission/site-fixture.js';
import { type FloodCommand, FloodResult, nextMessage, type SustainedResult } from './messages.js';
import { settled } from './pipeline-backlog.js';
import { median } from './report.js';
import { openServeBench, type ServeBench, usage } from './serve.js';

/** Consents a second of the tenant that is not flooded: a busy shop, far below the limit of the service. */
const RATE = 100;
const CONNECTIONS = 200;
const WARM_UP_SECONDS = 5;
const SECONDS = Number(process.env.BENCH_SECONDS ?? '15');
/** Only the floods whose names contain it. */
const ONLY = process.env.BENCH_FLOOD ?? '';
/** Records of the Merkle batch whose records strangers verify. */
const BATCH_RECORDS = 4_000;
const FILL_RATE = 1_000;
const FLOOD_CONNECTIONS = 24;
const BATCH_CONNECTIONS = 3;
const MANY_NETWORKS = 10_000;
/** A flood may make the p99 of other tenants so many times as long. */
const GOAL = 3;

interface Flood {
  readonly name: string;
  readonly flood: Pick<FloodCommand, 'connections' | 'networks' | 'paths' | 'submit'>;
}

/**
 * Measures the consents of one tenant at a steady rate, by themselves and during floods by strangers:
 * requests of one address (one IPv6 network), which the service limits, and requests of ten thousand,
 * which no limit by address catches.
 * @param key the master key of the database, 32 bytes
 */
export async function benchFloods(postgres: EmbeddedPostgres, key: Uint8Array, site: SiteFixture): Promise<void> {
  const bench = await openServeBench(postgres, Buffer.from(key), site, { TRUSTED_PROXIES: '127.0.0.1' });
  try {
    await load(bench, FILL_RATE, BATCH_RECORDS / FILL_RATE);
    await settled(bench.owner);
    const other = await createSiteFixture(bench.owner);
    const floods = floodsOf(await largestBatch(bench), other).filter(({ name }) => name.includes(ONLY));
    await load(bench, RATE, WARM_UP_SECONDS);
    const quiet = [await load(bench, RATE, SECONDS)];
    const measured: { readonly name: string; readonly loaded: Loaded; readonly flood: FloodResult }[] = [];
    for (const { name, flood } of floods) {
      const strangers = startFlood({ ...flood, port: bench.serve.port, ms: SECONDS * 1000 });
      const loaded = await load(bench, RATE, SECONDS);
      measured.push({ name, loaded, flood: await strangers });
      await settled(bench.owner);
      quiet.push(await load(bench, RATE, SECONDS));
    }
    const baseline = median(quiet.map(({ result }) => result.acceptedLatency.p99));
    console.log(
      `One tenant with ${RATE} consents a second, during floods by strangers (goal: p99 within ${GOAL} times)`,
    );
    console.log(`  without: p99 ${baseline.toFixed(0)} ms, median of ${quiet.length} rounds; ${describe(quiet[0])}`);
    for (const { name, loaded, flood } of measured) {
      const ratio = loaded.result.acceptedLatency.p99 / baseline;
      const { accepted } = loaded.result;
      const isMet = ratio <= GOAL && accepted >= RATE * SECONDS * 0.99;
      console.log(`  ${name}: ${ratio.toFixed(1)} times (${isMet ? 'met' : 'missed'}); ${describe(loaded)}`);
      console.log(`    answers to the strangers: ${JSON.stringify(flood.statuses)} in ${SECONDS} s`);
    }
  } finally {
    await bench.close();
  }
}

function floodsOf(eventIds: readonly string[], { writeKey, versions }: SiteFixture): Flood[] {
  const read = (paths: readonly string[]) => (networks: number) => ({
    connections: FLOOD_CONNECTIONS,
    networks,
    paths: [...paths],
    submit: null,
  });
  const reads = {
    'public verification': read(eventIds.map((id) => `/api/v1/public/consents/verify?token=${consentToken(id)}`)),
    'the page /verify': read(['/verify']),
    '/openapi.yaml': read(['/openapi.yaml']),
    'jwks.json': read(['/.well-known/jwks.json']),
  };
  return [
    ...Object.entries(reads).flatMap(([name, flood]) => [
      { name: `${name}, one network`, flood: flood(1) },
      { name: `${name}, ${MANY_NETWORKS} networks`, flood: flood(MANY_NETWORKS) },
    ]),
    {
      name: 'the largest submission batches of another tenant',
      flood: {
        connections: BATCH_CONNECTIONS,
        networks: 1,
        paths: [],
        submit: { apiKey: writeKey, documentVersionId: versions.cookieEn },
      },
    },
  ];
}

interface Loaded {
  readonly result: SustainedResult;
  /** Processor seconds of API and PostgreSQL for each second. */
  readonly busy: { readonly api: number; readonly postgres: number };
}

async function load(bench: ServeBench, rate: number, seconds: number): Promise<Loaded> {
  await bench.generator.prepare({
    port: bench.serve.port,
    targets: [...bench.targets],
    requests: rate * seconds + CONNECTIONS,
    connections: CONNECTIONS,
  });
  const before = await usage(bench);
  const result = await bench.generator.run(seconds * 1000, rate);
  const after = await usage(bench);
  return {
    result,
    busy: {
      api: (after.main - before.main) / (seconds * 1000),
      postgres: (after.postgres - before.postgres) / (seconds * 1000),
    },
  };
}

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

const EventRow = z.object({ event_id: z.string() });

/** Ids of the events in the Merkle batch with the most leaves. */
async function largestBatch({ owner }: ServeBench): Promise<string[]> {
  const { rows } = await owner.query(
    `select event_id from leaves
      where batch = (select batch from leaves group by batch order by count(*) desc limit 1)`,
  );
  return z
    .array(EventRow)
    .parse(rows)
    .map(({ event_id }) => event_id);
}

function describe(loaded: Loaded | undefined): string {
  if (loaded === undefined) return '';
  const { result, busy } = loaded;
  const { p50, p99, most } = result.acceptedLatency;
  return (
    `${result.accepted} accepted, p50 ${p50.toFixed(0)}, p99 ${p99.toFixed(0)}, most ${most.toFixed(0)} ms, ` +
    `${result.refused} refused, others ${JSON.stringify(result.others)}; API ${Math.round(busy.api * 100)} %, ` +
    `PostgreSQL ${Math.round(busy.postgres * 100)} % of a processor`
  );
}
