import { parseArgs } from 'node:util';
import pg from 'pg';
import { z } from 'zod';
import { Seed } from '../../src/demo/seed.js';
import { residentMiB } from '../processor-time.js';
import { SOAK_FAULTS } from './faults.js';
import { MixedLoad } from './load.js';
import { SoakedService } from './soaked-service.js';
import { type Sample, trendsOf } from './verdict.js';

// A long run of the whole product under load, with faults: `npm run soak -- --minutes 60`.
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '50' },
    'fault-every': { type: 'string', default: '30' },
  },
});
const minutes = Number(values.minutes);
const rate = Number(values.rate);
const faultEveryMs = Number(values['fault-every']) * 1_000;
if (!(minutes > 0 && rate > 0 && faultEveryMs > 0)) {
  console.error('--minutes, --rate (consents a second) and --fault-every (seconds) take a number above 0.');
  process.exit(2);
}
const SAMPLE_EVERY_MS = 5_000;
/** Fewer measurements say nothing about a trend. */
const LEAST_SAMPLES = 12;
const Report = z.object({ findings: z.array(z.looseObject({ kind: z.string() })), more: z.int() });
const Numbers = z.tuple([
  z.object({ connections: z.int(), waiting: z.int(), unsealed: z.int(), bytes: z.coerce.number() }),
]);
const Tokens = z.array(z.object({ token: z.string() }));

const service = await SoakedService.make();
const failures: string[] = [];
try {
  await service.start();
  const seeded = await service.run('admin', 'seed-demo', '--rate-limit', '1000000');
  const seed = Seed.parse(JSON.parse(seeded.stdout));
  await soak(seed);
} finally {
  await service.end('SIGTERM');
  await service.remove();
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
console.log(failures.length === 0 ? 'The soak found nothing.' : 'The soak failed.');
process.exit(failures.length === 0 ? 0 : 1);

async function soak(seed: Seed): Promise<void> {
  const policy = seed.documents.find(({ kind }) => kind === 'cookie_policy');
  const version = policy?.versions.find(({ state, language }) => state === 'active' && language === 'en');
  if (version === undefined) throw new Error('the demonstration has no active cookie policy');
  const load = new MixedLoad(() => service.url, seed, version.id);
  const stop = new AbortController();
  const start = performance.now();
  const elapsed = (): number => (performance.now() - start) / 1_000;
  const samples: Sample[] = [];
  const struck = new Map<string, number>();
  const audits = { sound: 0, interrupted: 0 };
  let steadySince = 0;

  const every = async (ms: number, work: () => Promise<void>): Promise<void> => {
    while (!stop.signal.aborted) {
      await pauseFor(ms, stop.signal);
      if (!stop.signal.aborted) await work();
    }
  };
  const strikeNext = async (turn: number): Promise<void> => {
    // In the second half no process is replaced, so that its memory can be compared.
    const isSteady = elapsed() > minutes * 30;
    const possible = SOAK_FAULTS.filter(({ replaces }) => !isSteady || !replaces);
    const fault = possible[turn % possible.length];
    if (fault === undefined) return;
    await fault.strike(service);
    if (fault.replaces) steadySince = elapsed();
    struck.set(fault.name, (struck.get(fault.name) ?? 0) + 1);
  };
  let turn = 0;
  const running = [
    load.run(rate, stop.signal),
    every(faultEveryMs, () => strikeNext(turn++)),
    every(SAMPLE_EVERY_MS, async () => {
      const sample = await measure(load.accepted.size, elapsed()).catch(() => null);
      if (sample !== null) samples.push(sample);
    }),
    every(1_000, async () => {
      const { stdout } = await service.run('audit');
      // An audit whose connection was cut has no report.
      const parsed = stdout === '' ? null : Report.parse(JSON.parse(stdout));
      if (parsed === null) audits.interrupted += 1;
      else if (parsed.findings.length + parsed.more === 0) audits.sound += 1;
      else failures.push(`at ${elapsed().toFixed(0)} s the audit found ${JSON.stringify(parsed)}`);
    }),
  ];
  await pauseFor(minutes * 60_000, stop.signal);
  stop.abort();
  await Promise.all(running);

  await compareWithLog(load.accepted);
  const last = await service.run('audit');
  if (last.exitCode !== 0) failures.push(`the audit at the end found ${last.stdout}`);
  if (service.listenerWarnings > 0) failures.push('MaxListenersExceededWarning appeared');
  if (service.unexpectedEnds > 0) failures.push(`serve ended by itself ${service.unexpectedEnds} times`);
  for (const [what, count] of load.unexpected) failures.push(`${count} unexpected answers: ${what}`);

  console.log(`${minutes} min, ${load.accepted.size} consents accepted, ${load.repeated} requests repeated.`);
  for (const [name, count] of struck) console.log(`${String(count).padStart(4)} x ${name}`);
  console.log(
    `Audits beside the load: ${audits.sound} without a finding, ${audits.interrupted} interrupted by a fault.`,
  );
  // The first minute after a start fills caches.
  const steady = samples.filter(({ seconds }) => seconds > steadySince + 60);
  if (steady.length < LEAST_SAMPLES) {
    console.log('Too short to say whether memory, connections, lag and disk stay flat: give more --minutes.');
    return;
  }
  for (const { name, before, after, isFlat } of trendsOf(steady)) {
    console.log(`${name.padEnd(36)} ${before.toFixed(0).padStart(8)} -> ${after.toFixed(0).padStart(8)}`);
    if (!isFlat) failures.push(`${name} grew from ${before.toFixed(0)} to ${after.toFixed(0)}`);
  }
}

async function measure(accepted: number, seconds: number): Promise<Sample> {
  const worker = await service.workerPid();
  const { connections, waiting, unsealed, bytes } = await withDatabase(async (client) => {
    const { rows } = await client.query(`
      select (select count(*) from pg_stat_activity where datname = current_database())::int as connections,
             (select coalesce(sum(count), 0) from event_log.waiting)::int as waiting,
             ((select count(*) from event_log.log where stream like 'consents-%' or stream like 'notices-%')
               - (select count(*) from leaves))::int as unsealed,
             pg_database_size(current_database())::text as bytes`);
    return Numbers.parse(rows)[0];
  });
  const [serveMiB, workerMiB] = await Promise.all([
    residentMiB(service.pid),
    worker === null ? null : residentMiB(worker),
  ]);
  return { seconds, accepted, serveMiB, workerMiB, connections, waiting, unsealed, databaseBytes: bytes };
}

/** Expects each accepted consent in the log once, and no other. */
async function compareWithLog(accepted: ReadonlySet<string>): Promise<void> {
  const logged = await withDatabase(async (client) => {
    for (;;) {
      const { rowCount } = await client.query('select from event_log.waiting limit 1');
      if (rowCount === 0) break;
      await pauseFor(200, new AbortController().signal);
    }
    const { rows } = await client.query(
      `select 'ct_' || replace(id::text, '-', '') as token from event_log.events where type like 'ConsentRecorded%'`,
    );
    return Tokens.parse(rows).map(({ token }) => token);
  });
  const inLog = new Set(logged);
  const missing = [...accepted].filter((token) => !inLog.has(token)).length;
  if (missing > 0) failures.push(`${missing} consents that were answered with 202 are not in the log`);
  if (logged.length !== accepted.size)
    failures.push(`the log has ${logged.length} consents, and ${accepted.size} were answered with 202`);
}

async function withDatabase<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: await service.databaseUrl() });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
