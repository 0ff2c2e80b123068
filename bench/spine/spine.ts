import { cpus, loadavg } from 'node:os';
import type { LoadGenerator } from '../load-generator.js';
import { settled } from '../pipeline-backlog.js';
import { median } from '../report.js';
import { describeDurability } from '../storage.js';
import { alternating, type Both, inTurn, namesOf, withBothVersions } from './both-versions.js';
import {
  type Drain,
  drainRound,
  type FreeRound,
  freeRound,
  loadRound,
  type Round,
  type VisibleRound,
  visibleRound,
} from './rounds.js';
import { type Goal, type Line, printTable, ratios } from './spine-table.js';
import { readWrites, type Writes, type WritesEach, writesEach } from './table-writes.js';
import type { BenchedSite, VersionBench } from './version-bench.js';

const SECONDS = Number(process.env.BENCH_SECONDS ?? '6');
const WARM_UP_SECONDS = 3;
const MANY_SITES = 1_000;
const ROUNDS = 3;
const VISIBLE_ROUNDS = 2;
const VISIBLE_SECONDS = Math.ceil(SECONDS * 1.5);
const DRAINS = 2;
const CONNECTIONS = [64, 256, 1_024] as const;
/** A processor, or all of them, with a smaller idle part than this is what limits the rate. */
const IDLE = 0.1;

/** A load of some sites. */
interface Load {
  readonly rounds: Both<readonly Round[]>;
  readonly writes: Both<WritesEach>;
}

/**
 * Compares this version with the one before the spine, in alternating rounds on one machine: what one
 * consent costs, how many are sustained, and when they can be seen. Both run all the time, each with
 * `serve` and an embedded PostgreSQL of its own.
 * @throws Error if the other version cannot be built
 */
export async function benchSpine(): Promise<void> {
  await withBothVersions(MANY_SITES, compare);
}

async function compare(benches: Both<VersionBench>, generator: LoadGenerator): Promise<void> {
  const oneSite = (bench: VersionBench): readonly BenchedSite[] => bench.sites.slice(0, 1);
  const manySites = (bench: VersionBench): readonly BenchedSite[] => bench.sites;
  await inTurn(benches, 0, async (bench) => {
    await settled(bench.db, 'all', bench.backlog);
    // The first consent of each site makes rows that the others need not make.
    await loadRound(bench, generator, manySites(bench), WARM_UP_SECONDS);
    await loadRound(bench, generator, oneSite(bench), WARM_UP_SECONDS);
  });
  const start = await readBoth(benches);
  const [one, between] = await measureLoad(benches, generator, oneSite, start);
  printLoad('One site, for one consent', benches, one, { rows: 6 });
  const [many] = await measureLoad(benches, generator, manySites, between);
  console.log('');
  printLoad(`${MANY_SITES} sites, for one consent`, benches, many, { rows: 7 });
  console.log('');
  await printVisible(benches, generator, many);
  console.log('');
  await printDrains(benches, generator);
  console.log('');
  await printConnections(benches.now, generator);
  const [load = Number.NaN] = loadavg();
  console.log(`  ${await describeDurability(benches.now.db)}; load average of the machine ${load.toFixed(1)}`);
}

async function readBoth({ before, now }: Both<VersionBench>): Promise<Both<Writes>> {
  const [ofBefore, ofNow] = await Promise.all([readWrites(before.db), readWrites(now.db)]);
  return { before: ofBefore, now: ofNow };
}

/** @param start the writes until now. @returns the writes at the end beside the load */
async function measureLoad(
  benches: Both<VersionBench>,
  generator: LoadGenerator,
  sitesOf: (bench: VersionBench) => readonly BenchedSite[],
  start: Both<Writes>,
): Promise<[load: Load, end: Both<Writes>]> {
  const rounds = await alternating(benches, ROUNDS, (bench) => loadRound(bench, generator, sitesOf(bench), SECONDS));
  const end = await readBoth(benches);
  const each = (version: keyof Both<unknown>): WritesEach =>
    writesEach(
      start[version],
      end[version],
      rounds[version].reduce((sum, { accepted }) => sum + accepted, 0),
    );
  return [{ rounds, writes: { before: each('before'), now: each('now') } }, end];
}

const atMost = (limit: number): Goal => ({ limit, is: 'at most' });
const atLeast = (limit: number): Goal => ({ limit, is: 'at least' });

function printLoad(
  title: string,
  benches: Both<VersionBench>,
  { rounds, writes }: Load,
  goals: { readonly rows: number },
): void {
  const written = (what: string, digits: number, pick: (each: WritesEach) => number, goal?: Goal): Line => ({
    what,
    digits,
    before: [pick(writes.before)],
    now: [pick(writes.now)],
    ...(goal !== undefined && { goal }),
  });
  const measured = (what: string, digits: number, pick: (round: Round) => number, goal?: Goal): Line => ({
    what,
    digits,
    before: rounds.before.map(pick),
    now: rounds.now.map(pick),
    ...(goal !== undefined && { goal }),
  });
  const rates = measured('sustained, all stages running, a second', 0, ({ rate }) => rate);
  printTable(title, namesOf(benches), [
    written('tables with its body', 0, ({ bodies }) => bodies, atMost(1)),
    written('rows inserted', 2, ({ inserted }) => inserted, atMost(goals.rows)),
    written('rows updated', 2, ({ updated }) => updated),
    written('rows deleted', 2, ({ deleted }) => deleted),
    written('index entries', 2, ({ indexEntries }) => indexEntries, atMost(10)),
    measured('write-ahead log, a checkpoint before, kB', 2, ({ wal }) => wal / 1_000, atMost(5)),
    written('tables and indexes, kB', 2, ({ bytes }) => bytes / 1_000, atMost(3.8)),
    written('of it for ever, kB', 2, ({ kept }) => kept / 1_000, atMost(3.2)),
    measured('processor time of PostgreSQL, µs', 0, ({ micros }) => micros.postgres, atMost(120)),
    measured('of the worker, µs', 0, ({ micros }) => micros.worker, atMost(80)),
    measured('of the API, µs', 0, ({ micros }) => micros.api, atMost(190)),
    rates,
    { what: 'ratio of the rates', before: [], now: ratios(rates.now, rates.before), digits: 2, goal: atLeast(1.7) },
    measured('p99 of a 202 meanwhile, ms', 0, ({ latency }) => latency.p99),
  ]);
  for (const version of ['before', 'now'] as const) {
    const { tables } = writes[version];
    const parts = tables.map(
      ({ name, bytes, inserted, updated, indexEntries }) =>
        `${name} ${bytes.toFixed(0)} bytes (${inserted.toFixed(2)}, ${updated.toFixed(2)}, ${indexEntries.toFixed(2)})`,
    );
    console.log(`  ${version}, bytes (rows inserted, updated, index entries): ${parts.join('; ')}`);
  }
}

async function printVisible(benches: Both<VersionBench>, generator: LoadGenerator, { rounds }: Load): Promise<void> {
  const half = (bench: VersionBench): number =>
    median((bench === benches.now ? rounds.now : rounds.before).map(({ rate }) => rate)) / 2;
  const times = await alternating(benches, VISIBLE_ROUNDS, (bench) =>
    visibleRound(bench, generator, bench.sites, VISIBLE_SECONDS, half(bench)),
  );
  const measured = (what: string, pick: (round: VisibleRound) => number, goal?: Goal): Line => ({
    what,
    digits: 0,
    before: times.before.map(pick),
    now: times.now.map(pick),
    ...(goal !== undefined && { goal }),
  });
  printTable(`202 to visible in status, ${MANY_SITES} sites`, namesOf(benches), [
    measured('p99 at half of the sustained rate, ms', ({ p99 }) => p99, atMost(400)),
    measured('p50, ms', ({ p50 }) => p50),
    measured('probes', ({ probes }) => probes),
    measured('consents a second', ({ accepted }) => accepted / VISIBLE_SECONDS),
    measured('requests that were refused', ({ refused }) => refused),
  ]);
}

async function printDrains(benches: Both<VersionBench>, generator: LoadGenerator): Promise<void> {
  const drains = await alternating(benches, DRAINS, (bench) => drainRound(bench, generator, bench.sites.slice(0, 1)));
  const measured = (what: string, pick: (drain: Drain) => number, goal?: Goal): Line => ({
    what,
    digits: 0,
    before: drains.before.map(pick),
    now: drains.now.map(pick),
    ...(goal !== undefined && { goal }),
  });
  printTable('Worker in a drain of one site, for one event', namesOf(benches), [
    measured('processor time of the worker, µs', ({ micros }) => micros.worker, atMost(70)),
    measured('of PostgreSQL, µs', ({ micros }) => micros.postgres),
    measured('events a second', ({ rate }) => rate),
    measured('events', ({ events }) => events),
  ]);
}

async function printConnections(bench: VersionBench, generator: LoadGenerator): Promise<void> {
  console.log('This version on one site, without pauses:');
  for (const connections of CONNECTIONS) {
    const round = await freeRound(bench, generator, bench.sites.slice(0, 1), SECONDS, connections);
    const { accepted, refused, others, acceptedLatency } = round.result;
    const { waits, busy } = round;
    console.log(
      `  ${connections} connections: ${Math.round(accepted / SECONDS)}/s, p50 ${acceptedLatency.p50.toFixed(0)}, ` +
        `p99 ${acceptedLatency.p99.toFixed(0)} ms; ${refused} refused, other answers ${JSON.stringify(others)}; ` +
        `the limit: ${limitOf(round)}`,
    );
    const shares = waits.shares
      .filter(({ share }) => share >= 0.005)
      .map(({ wait, share }) => `${wait} ${percent(share)}`);
    console.log(
      `    ${waits.transactions.toFixed(1)} transactions of admission at a time, which wait for: ${shares.join(', ')}` +
        `${waits.others.length === 0 ? '' : ` (${waits.others.join(', ')})`}; ` +
        `processors busy: API ${busy.api.toFixed(2)}, worker ${busy.worker.toFixed(2)}, ` +
        `PostgreSQL ${busy.postgres.toFixed(2)}, idle ${percent(waits.idle)}`,
    );
  }
}

/** Names what a higher rate needs more of. */
function limitOf({ result, waits, busy }: FreeRound): string {
  if (waits.idle < IDLE) {
    const own = busy.api + busy.worker + busy.postgres + result.cpuMs / result.ms;
    const isAlone = own > cpus().length * (1 - 2 * IDLE);
    return isAlone ? 'the processors' : 'the processors, which other programs use, too';
  }
  if (busy.api > 1 - IDLE) return 'the thread of the API';
  const [most] = waits.shares.toSorted((a, b) => b.share - a.share);
  return most === undefined || waits.transactions < IDLE ? 'the number of connections' : most.wait;
}

function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}
