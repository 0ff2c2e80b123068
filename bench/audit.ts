import { pino } from 'pino';
import { openAudit } from '../src/app/open-audit.js';
import { runAudit } from '../src/audit/audit.js';
import { loadConfig } from '../src/platform/config/index.js';
import type { EmbeddedPostgres } from '../src/platform/database/embedded/index.js';
import type { SiteFixture } from '../test/pipeline/admission/site-fixture.js';
import { postgresCpuMs } from './processor-time.js';
import { openServeBench, type ServeBench } from './serve.js';
import { fillUpTo, openFiller } from './stored.js';

/** Records of the largest audit; `BENCH_AUDIT=1000000` needs 10 GB and most of an hour. */
const MOST = Number(process.env.BENCH_AUDIT ?? '100000');
const FIRST = 10_000;
const FACTOR = 10;
const GOAL_MICROS = 60;

/**
 * Measures a whole audit at 10,000 records, and at ten times as many up to `BENCH_AUDIT`: wall time, and
 * processor time of the command and of PostgreSQL for each record, by section. The service has nothing to do
 * meanwhile.
 * @param key the master key of the database, 32 bytes
 */
export async function benchAudit(postgres: EmbeddedPostgres, key: Uint8Array, site: SiteFixture): Promise<void> {
  const bench = await openServeBench(postgres, Buffer.from(key), site, { BATCH_MAX_AGE_MS: '1000' });
  const filler = openFiller(postgres);
  try {
    for (let records = FIRST; records <= MOST; records *= FACTOR) {
      await fillUpTo(bench, filler, site, records);
      // The statistics are those of autovacuum, as they happen to be.
      await measure(bench, records);
    }
  } finally {
    await bench.close();
    await filler.end();
  }
}

/** In microseconds. */
interface Used {
  readonly wall: number;
  /** Processor time. */
  readonly audit: number;
  readonly inDatabase: number;
}

async function measure({ serve, postmaster }: ServeBench, records: number): Promise<void> {
  const { parts, close } = await openAudit(loadConfig(serve.env), pino({ level: 'silent' }));
  try {
    const each = (micros: number): string => (micros / records).toFixed(0);
    const used = async (): Promise<Used> => {
      const { user, system } = process.cpuUsage();
      const inDatabase = ((await postgresCpuMs(postmaster)) ?? Number.NaN) * 1000;
      return { wall: performance.now() * 1000, audit: user + system, inDatabase };
    };
    const start = await used();
    let before = start;
    const sections: string[] = [];
    const { findings, more } = await runAudit({
      ...parts,
      onState: async ({ done }) => {
        const name = done.at(-1) ?? '';
        if (done.length <= sections.length) return;
        const now = await used();
        sections.push(`${name} ${each(now.audit - before.audit)} and ${each(now.inDatabase - before.inDatabase)}`);
        before = now;
      },
    });
    const end = await used();
    const wall = (end.wall - start.wall) / records;
    console.log(
      `Audit of ${records.toLocaleString('en')} records: ${((wall * records) / 1e6).toFixed(1)} s, ${wall.toFixed(0)} µs a record ` +
        `(goal ${GOAL_MICROS}, ${wall <= GOAL_MICROS ? 'met' : 'missed'}); ${findings.length + more} findings`,
    );
    console.log(
      `  processor time of each: audit ${each(end.audit - start.audit)} µs, PostgreSQL ${each(end.inDatabase - start.inDatabase)} µs; ` +
        `by section: ${sections.join(', ')}`,
    );
  } finally {
    await close();
  }
}
