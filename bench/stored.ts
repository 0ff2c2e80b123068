import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import * as z from 'zod';
import type { EmbeddedPostgres } from '../src/platform/database/embedded/index.js';
import type { SiteFixture } from '../test/pipeline/admission/site-fixture.js';
import { recordManyConsents } from '../test/support/recorded-consents.js';
import { loggedConsents, settled, type Backlog as Waiting } from './pipeline-backlog.js';
import { postgresCpuMs } from './processor-time.js';
import { median } from './report.js';
import { openServeBench, type ServeBench, searchRate, usage } from './serve.js';

/** Records of the second measurement; `BENCH_STORED=5000000` needs 50 GB and most of an hour. */
const STORED = Number(process.env.BENCH_STORED ?? '200000');
const FEW = 10_000;
/** Consents that wait while the worker cannot see them, and are then processed. */
const PAGE = 20_000;
const ROUNDS = 3;
const GOAL_STORED = 1.2;
const GOAL_REBUILD = 0.3;
const GOAL_BESIDE = 0.8;

/** Measurements with one number of stored records. */
interface Measured {
  readonly stored: number;
  /** Waiting events to sealed and projected, a second. */
  readonly worker: number;
  /** Single consents accepted a second, while all stages keep up. */
  readonly accepted: number;
  /** Processor time of each waiting event, in µs. */
  readonly micros: { readonly worker: number; readonly postgres: number };
  /** Processor time of each single consent through all stages, in µs. */
  readonly microsOfAll: number;
}

/**
 * Measures what the number of stored records costs: worker and admission at 10,000 records and at
 * many; a rebuild of a read model against `COPY` of its rows; and admission during a full export
 * and a rebuild.
 * @param key the master key of the database, 32 bytes
 */
export async function benchStored(postgres: EmbeddedPostgres, key: Uint8Array, site: SiteFixture): Promise<void> {
  const bench = await openServeBench(postgres, Buffer.from(key), site, { BATCH_MAX_AGE_MS: '1000' });
  const filler = openFiller(postgres);
  const fill = (events: number): Promise<ProcessedPage> => processPage(bench, filler, site, events);
  try {
    await fill(FEW);
    const few = await measure(bench, fill);
    printMeasured(few);
    await fillUpTo(bench, filler, site, STORED);
    const many = await measure(bench, fill);
    printMeasured(many);
    for (const [what, slower] of [
      ['worker', few.worker / many.worker],
      ['single consents', few.accepted / many.accepted],
    ] as const)
      console.log(
        `${what}: ${slower.toFixed(2)} times as slow with ${many.stored} as with ${few.stored} stored records ` +
          `(goal ${GOAL_STORED}, ${slower <= GOAL_STORED ? 'met' : 'missed'})`,
      );
    console.log('');
    await compareRebuild(bench, filler);
    console.log('');
    await admissionBeside(bench, site);
  } finally {
    await bench.close();
    await filler.end();
  }
}

/** Opens the pool by which consents are stored that the service did not admit. */
export function openFiller({ superuserUrl }: EmbeddedPostgres): pg.Pool {
  return new pg.Pool({ connectionString: superuserUrl, max: 2, options: '-c synchronous_commit=off' });
}

/** Stores and processes consents, page by page, until there are so many records. */
export async function fillUpTo(bench: ServeBench, filler: pg.Pool, site: SiteFixture, records: number): Promise<void> {
  for (let stored = await loggedConsents(filler); stored < records; stored = await loggedConsents(filler))
    await processPage(bench, filler, site, Math.min(PAGE, records - stored));
}

/** Times of one page of consents. */
interface ProcessedPage {
  readonly ms: number;
  readonly workerCpuMs: number;
  readonly postgresCpuMs: number;
}

/** Stores consents that the worker does not see before all are there, and waits until they are sealed and projected. */
async function processPage(
  { keyring, serve, postmaster }: ServeBench,
  filler: pg.Pool,
  site: SiteFixture,
  events: number,
): Promise<ProcessedPage> {
  await settled(filler);
  const client = await filler.connect();
  try {
    // The worker sees the rows when all of them are committed.
    await client.query('begin');
    const sites = { tenantId: site.tenantId, siteIds: [site.siteId], documentVersionId: site.versions.cookieEn };
    await recordManyConsents(client, keyring, sites, events);
    const before = await usage({ serve, postmaster });
    const started = performance.now();
    await client.query('commit');
    await settled(filler);
    const after = await usage({ serve, postmaster });
    return {
      ms: performance.now() - started,
      workerCpuMs: after.worker - before.worker,
      postgresCpuMs: after.postgres - before.postgres,
    };
  } finally {
    client.release();
  }
}

async function measure(bench: ServeBench, fill: (events: number) => Promise<ProcessedPage>): Promise<Measured> {
  const stored = await loggedConsents(bench.owner);
  const runs: ProcessedPage[] = [];
  for (let round = 0; round < ROUNDS; round += 1) runs.push(await fill(FEW));
  const each = (pick: (run: ProcessedPage) => number): number => median(runs.map((run) => (pick(run) * 1000) / FEW));
  const before = await usage(bench);
  const accepted = await searchRate(bench);
  const after = await usage(bench);
  const cpuMs = after.main + after.worker + after.postgres - before.main - before.worker - before.postgres;
  return {
    stored,
    worker: median(runs.map(({ ms }) => (FEW / ms) * 1000)),
    micros: { worker: each(({ workerCpuMs }) => workerCpuMs), postgres: each((run) => run.postgresCpuMs) },
    accepted,
    microsOfAll: (cpuMs * 1000) / ((await loggedConsents(bench.owner)) - stored - ROUNDS * FEW),
  };
}

function printMeasured({ stored, worker, accepted, micros, microsOfAll }: Measured): void {
  console.log(
    `${stored} stored records: worker ${Math.round(worker)} events/s (processor time of each: worker ` +
      `${micros.worker.toFixed(0)} µs, PostgreSQL ${micros.postgres.toFixed(0)} µs); ` +
      `single consents ${Math.round(accepted)}/s (API, worker and PostgreSQL together ${microsOfAll.toFixed(0)} µs)`,
  );
}

const Live = z.tuple([z.object({ schema: z.string() })]);
const Count = z.tuple([z.object({ count: z.coerce.number() })]);

/** Rebuilds the read model of consents by its command, and copies the same rows with their indexes. */
async function compareRebuild({ serve, postmaster }: ServeBench, filler: pg.Pool): Promise<void> {
  const before = await postgresCpuMs(postmaster);
  const rebuild = await serve.command('projections', 'rebuild', 'consents', '--json');
  const rebuildCpuMs = ((await postgresCpuMs(postmaster)) ?? Number.NaN) - (before ?? Number.NaN);
  const live = await filler.query(
    "select 'rm_' || name || '_' || generation as schema from projection_generations where name = 'consents' order by generation desc limit 1",
  );
  const [{ schema }] = Live.parse(live.rows);
  const file = join(tmpdir(), `consent-ledger-bench-copy-${process.pid}`);
  const name = pg.escapeIdentifier(schema);
  try {
    await filler.query(`copy ${name}.consents to ${pg.escapeLiteral(file)} (format binary)`);
    await filler.query(`create table bench_copy (like ${name}.consents including all)`);
    const started = performance.now();
    await filler.query(`copy bench_copy from ${pg.escapeLiteral(file)} (format binary)`);
    const seconds = (performance.now() - started) / 1000;
    const [{ count }] = Count.parse((await filler.query('select count(*) from bench_copy')).rows);
    const ratio = seconds / rebuild.wallSeconds;
    console.log(
      `Rebuild of the read model of ${count} consents against COPY of its rows: ratio ${ratio.toFixed(2)} ` +
        `(goal ${GOAL_REBUILD}, ${ratio >= GOAL_REBUILD ? 'met' : 'missed'})`,
    );
    console.log(
      `  rebuild ${rebuild.wallSeconds.toFixed(1)} s (processor time: command ${rebuild.seconds.toFixed(1)} s, ` +
        `PostgreSQL ${(rebuildCpuMs / 1000).toFixed(1)} s), COPY ${seconds.toFixed(1)} s`,
    );
  } finally {
    await filler.query('drop table if exists bench_copy');
    await rm(file, { force: true });
  }
}

/** Measures single consents alone, and while a whole site is exported and a read model rebuilt. */
async function admissionBeside(bench: ServeBench, site: SiteFixture): Promise<void> {
  // While a rebuild compares, it holds the live read model, which then waits by intent.
  const ofRelay = ({ relay }: Waiting): number => relay;
  const alone = await searchRate(bench, ofRelay);
  const output = join(tmpdir(), `consent-ledger-bench-export-${process.pid}.zip`);
  try {
    const busy = Promise.all([
      bench.serve.command(
        'evidence',
        'export',
        '--site',
        site.siteId,
        '--output',
        output,
        '--disclose',
        'all',
        '--json',
      ),
      bench.serve.command('projections', 'rebuild', 'consents', '--json'),
    ]);
    const beside = await searchRate(bench, ofRelay);
    const [exported, rebuilt] = await busy;
    const ratio = beside / alone;
    console.log(
      `Single consents during a full export and a rebuild, against without: ratio ${ratio.toFixed(2)} ` +
        `(goal ${GOAL_BESIDE}, ${ratio >= GOAL_BESIDE ? 'met' : 'missed'})`,
    );
    console.log(
      `  ${Math.round(beside)}/s against ${Math.round(alone)}/s; export ${exported.wallSeconds.toFixed(0)} s ` +
        `(at most ${exported.mebibytes.toFixed(0)} MiB), rebuild ${rebuilt.wallSeconds.toFixed(0)} s ` +
        `(at most ${rebuilt.mebibytes.toFixed(0)} MiB)`,
    );
  } finally {
    await rm(output, { force: true });
  }
}
