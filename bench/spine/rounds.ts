import type pg from 'pg';
import { z } from 'zod';
import type { LoadGenerator } from '../load-generator.js';
import type { Latencies, SustainedResult } from '../messages.js';
import { sampleBacklog, settled } from '../pipeline-backlog.js';
import { MOST_UNSEALED, usage, VISITOR_CONNECTIONS } from '../serve.js';
import { probeVisibility, type VisibleTimes } from '../visible.js';
import type { BenchedSite, VersionBench } from './version-bench.js';
import { sampleWaits, type WaitShares } from './wait-shares.js';

const CONNECTIONS = 128;
/** No version accepts more single consents a second on the machines of the benchmark. */
const FASTEST = 5_000;
/** The load pauses while so many events wait for the log or a read model. */
const MOST_WAITING = 2_000;
const SAMPLE_MS = 200;
/** A worker that stands still for ten seconds is replaced. */
const HALTED_SECONDS = 5;

/** Processor time of one consent through all stages, in µs. */
export interface Micros {
  readonly api: number;
  readonly worker: number;
  readonly postgres: number;
}

/** One load. */
export interface Round {
  readonly accepted: number;
  /** Consents a second until all were in the log and in the read models. */
  readonly rate: number;
  readonly micros: Micros;
  /** Bytes of the write-ahead log of one consent. */
  readonly wal: number;
  readonly latency: Latencies;
}

/**
 * Accepts as fast as the stages allow, after a checkpoint, and lets them finish.
 * @param connections requests at a time
 * @throws Error if anything but a consent is answered
 */
export async function loadRound(
  bench: VersionBench,
  generator: LoadGenerator,
  sites: readonly BenchedSite[],
  seconds: number,
  connections = CONNECTIONS,
): Promise<Round> {
  await prepare(bench, generator, sites, seconds * FASTEST, connections);
  await bench.db.query('checkpoint');
  const [wal, used, started] = [await walBytes(bench.db), await usage(bench), performance.now()];
  const pausing = sampleBacklog(
    bench.db,
    SAMPLE_MS,
    ({ relay, projections, sealer }) => {
      const isFull = relay + projections > MOST_WAITING || sealer > MOST_UNSEALED;
      generator.setRate(isFull ? 1 : null);
    },
    bench.backlog,
  );
  const result = await generator.run(seconds * 1_000, null);
  await pausing.stop();
  refuseOtherAnswers(bench, result);
  await settled(bench.db, 'shown', bench.backlog);
  const ms = performance.now() - started;
  await settled(bench.db, 'all', bench.backlog);
  const after = await usage(bench);
  const { accepted } = result;
  return {
    accepted,
    rate: (accepted / ms) * 1_000,
    micros: microsOf(used, after, accepted),
    wal: ((await walBytes(bench.db)) - wal) / accepted,
    latency: result.acceptedLatency,
  };
}

/** The probes, and with `refused` all requests of the load that got no answer or another one. */
export type VisibleRound = VisibleTimes & { readonly accepted: number };

/** Probes how long an accepted consent takes to the status of its visitor, under a load of many sites. */
export async function visibleRound(
  bench: VersionBench,
  generator: LoadGenerator,
  sites: readonly BenchedSite[],
  seconds: number,
  rate: number,
): Promise<VisibleRound> {
  await prepare(bench, generator, sites, seconds * rate, VISITOR_CONNECTIONS);
  const load = generator.run(seconds * 1_000, rate);
  const times = await probeVisibility(bench.serve.port, sites, seconds);
  const result = await load;
  await settled(bench.db, 'all', bench.backlog);
  const other = Object.values(result.others).reduce((sum, count) => sum + count, 0);
  const refused = times.refused + result.refused + result.unsent + other;
  return { ...times, refused, accepted: result.accepted + times.probes };
}

/** A backlog of one site that the worker processed. */
export interface Drain {
  readonly events: number;
  /** Events a second until all were in the log and in the read models. */
  readonly rate: number;
  readonly micros: Micros;
}

/** Lets consents wait while the worker stands still, and then lets it go. */
export async function drainRound(
  bench: VersionBench,
  generator: LoadGenerator,
  sites: readonly BenchedSite[],
): Promise<Drain> {
  await prepare(bench, generator, sites, HALTED_SECONDS * FASTEST, CONNECTIONS);
  const goOn = await bench.serve.haltWorker();
  let result: SustainedResult;
  let used: Use;
  try {
    result = await generator.run(HALTED_SECONDS * 1_000, null);
    used = await usage(bench);
  } finally {
    goOn();
  }
  const started = performance.now();
  refuseOtherAnswers(bench, result);
  await settled(bench.db, 'shown', bench.backlog);
  const ms = performance.now() - started;
  await settled(bench.db, 'all', bench.backlog);
  const events = result.accepted;
  return { events, rate: (events / ms) * 1_000, micros: microsOf(used, await usage(bench), events) };
}

/** A load without pauses. */
export interface FreeRound {
  readonly result: SustainedResult;
  readonly waits: WaitShares;
  /** Processors that each process kept busy. */
  readonly busy: Micros;
}

/** Accepts as fast as so many connections allow, and looks at what admission waits for. */
export async function freeRound(
  bench: VersionBench,
  generator: LoadGenerator,
  sites: readonly BenchedSite[],
  seconds: number,
  connections: number,
): Promise<FreeRound> {
  await prepare(bench, generator, sites, seconds * FASTEST, connections);
  const used = await usage(bench);
  const sampling = sampleWaits(bench.db);
  const result = await generator.run(seconds * 1_000, null);
  const [after, waits] = [await usage(bench), await sampling.stop()];
  await settled(bench.db, 'all', bench.backlog);
  return { result, waits, busy: microsOf(used, after, seconds * 1_000_000) };
}

function prepare(
  { serve }: VersionBench,
  generator: LoadGenerator,
  sites: readonly BenchedSite[],
  requests: number,
  connections: number,
): Promise<void> {
  const targets = sites.map(({ writeKey, versions }) => ({ apiKey: writeKey, documentVersionId: versions.cookieEn }));
  return generator.prepare({ port: serve.port, targets, requests: Math.ceil(requests) + connections, connections });
}

function refuseOtherAnswers({ name }: VersionBench, { accepted, refused, others }: SustainedResult): void {
  if (accepted > 0 && refused === 0 && Object.keys(others).length === 0) return;
  throw new Error(
    `${name}: ${accepted} consents accepted, ${refused} refused, other answers ${JSON.stringify(others)}`,
  );
}

type Use = Awaited<ReturnType<typeof usage>>;

function microsOf(before: Use, after: Use, consents: number): Micros {
  const each = (pick: (use: Use) => number): number => ((pick(after) - pick(before)) * 1_000) / consents;
  return { api: each(({ main }) => main), worker: each(({ worker }) => worker), postgres: each((use) => use.postgres) };
}

const WalRow = z.tuple([z.object({ bytes: z.coerce.number() })]);

async function walBytes(db: pg.Pool): Promise<number> {
  const { rows } = await db.query("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes");
  return WalRow.parse(rows)[0].bytes;
}
