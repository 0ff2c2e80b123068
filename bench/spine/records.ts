import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadGenerator } from '../load-generator.js';
import { loggedConsents } from '../pipeline-backlog.js';
import { usage } from '../serve.js';
import { alternating, inTurn, namesOf, withBothVersions } from './both-versions.js';
import { loadRound } from './rounds.js';
import { type Line, printTable, ratios } from './spine-table.js';
import type { VersionBench } from './version-bench.js';

const RECORDS = Number(process.env.BENCH_RECORDS ?? '1000000');
/** Bodies of a round are made before it, and kept in memory. */
const FILL_SECONDS = 20;
const ROUNDS = 2;
const GOAL = 1.2;

/** One run of a command beside an idle service. */
interface CommandRun {
  readonly seconds: number;
  /** Processor time of the command and of PostgreSQL, in seconds. */
  readonly cpuSeconds: number;
  readonly mebibytes: number;
}

/**
 * Compares exports of a whole site, and rebuilds of its read model, with those of the version before
 * the spine, by the commands of both, in alternating rounds over the same number of records.
 * @throws Error if the other version cannot be built
 */
export async function benchRecords(): Promise<void> {
  await withBothVersions(1, async (benches, generator) => {
    const stored = await inTurn(benches, 0, (bench) => fill(bench, generator));
    const names = namesOf(benches);
    const exports = await alternating(benches, ROUNDS, exportSite);
    printTable('Export of the whole site', names, linesOf(exports.before, exports.now));
    const rebuilds = await alternating(benches, ROUNDS, (bench) =>
      measure(bench, 'projections', 'rebuild', 'consents', '--json'),
    );
    printTable('Rebuild of the read model', names, linesOf(rebuilds.before, rebuilds.now));
    console.log(`  records stored: before ${stored.before}, now ${stored.now}`);
  });
}

async function fill(bench: VersionBench, generator: LoadGenerator): Promise<number> {
  for (let stored = 0; ; stored = await loggedConsents(bench.db)) {
    if (stored >= RECORDS) return stored;
    await loadRound(bench, generator, bench.sites, FILL_SECONDS);
  }
}

async function exportSite(bench: VersionBench): Promise<CommandRun> {
  const output = join(tmpdir(), `consent-ledger-bench-records-${process.pid}.zip`);
  const [site] = bench.sites;
  try {
    const target = ['--site', site?.siteId ?? '', '--output', output];
    return await measure(bench, 'evidence', 'export', ...target, '--disclose', 'all', '--json');
  } finally {
    await rm(output, { force: true });
  }
}

async function measure(bench: VersionBench, ...command: readonly string[]): Promise<CommandRun> {
  const before = await usage(bench);
  const { wallSeconds, seconds, mebibytes } = await bench.serve.command(...command);
  const after = await usage(bench);
  const ofServer = (after.postgres - before.postgres) / 1_000;
  return { seconds: wallSeconds, cpuSeconds: seconds + ofServer, mebibytes };
}

function linesOf(before: readonly CommandRun[], now: readonly CommandRun[]): readonly Line[] {
  const measured = (what: string, pick: (run: CommandRun) => number): Line => ({
    what,
    digits: 1,
    before: before.map(pick),
    now: now.map(pick),
  });
  const wall = measured('seconds', ({ seconds }) => seconds);
  const faster = ratios(wall.before, wall.now);
  return [
    wall,
    { what: 'times as fast', before: [], now: faster, digits: 2, goal: { limit: GOAL, is: 'at least' } },
    measured('processor time with PostgreSQL, s', ({ cpuSeconds }) => cpuSeconds),
    measured('memory of the command, MiB', ({ mebibytes }) => mebibytes),
  ];
}
