import { readdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import * as z from 'zod';
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
const Leaves = z.tuple([z.object({ n: z.int() })]);
/** The most that a fault may keep any stage from its work after it is over. */
const MOST_TAKE_OVER_SECONDS = 15;
const GIVE_UP_SECONDS = 120;
/** More than one batch that was under way when the fault hit. */
const LEAVES_OF_A_BATCH = 20;
const Tokens = z.array(z.object({ token: z.string() }));

const service = await SoakedService.make();
let failures = 0;
const fail = (what: string): void => {
  failures += 1;
  console.log(`FAILED: ${what}`);
};
try {
  await service.start();
  const seeded = await service.run('admin', 'seed-demo', '--rate-limit', '1000000');
  const seed = Seed.parse(JSON.parse(seeded.stdout));
  await soak(seed);
} finally {
  await service.end('SIGTERM');
  await service.remove();
}
console.log(failures === 0 ? 'The soak found nothing.' : 'The soak failed.');
process.exit(failures === 0 ? 0 : 1);

async function soak(seed: Seed): Promise<void> {
  const policy = seed.documents.find(({ kind }) => kind === 'cookie_policy');
  const version = policy?.versions.find(({ state, language }) => state === 'active' && language === 'en');
  if (version === undefined) throw new Error('the demonstration has no active cookie policy');
  const load = new MixedLoad(() => service.url, seed, version.id);
  const stop = new AbortController();
  const start = performance.now();
  const elapsed = (): number => (performance.now() - start) / 1_000;
  const samples: Sample[] = [];
  const struck = new Map<string, { times: number; takeOver: number }>();
  const audits = { sound: 0, interrupted: 0, besideWrongRows: 0 };
  let steadySince = 0;
  let pids = '';
  const wrongRows = { now: false, times: 0 };

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
    if (fault.altersRows === true) {
      wrongRows.now = true;
      wrongRows.times += 1;
    }
    const began = performance.now();
    await fault.strike(service);
    wrongRows.now = false;
    if (fault.replaces === true) steadySince = elapsed();
    // A process that hangs for good is still there when the fault is over.
    const over = fault.replaces === true ? began : performance.now();
    const takeOver = await takenOver(over, stop.signal);
    if (takeOver === null) return;
    if (takeOver > MOST_TAKE_OVER_SECONDS) fail(`${takeOver.toFixed(1)} s after: ${fault.name}`);
    const before = struck.get(fault.name) ?? { times: 0, takeOver: 0 };
    struck.set(fault.name, { times: before.times + 1, takeOver: Math.max(before.takeOver, takeOver) });
  };
  let turn = 0;
  const running = [
    load.run(rate, stop.signal),
    every(faultEveryMs, () => strikeNext(turn++)),
    every(SAMPLE_EVERY_MS, async () => {
      const sample = await measure(load.accepted.size, elapsed()).catch(() => null);
      if (sample === null) return;
      // A part may end at a wrong row, and with it the worker.
      if (sample.pids !== pids) steadySince = elapsed();
      pids = sample.pids;
      samples.push(sample);
    }),
    every(1_000, async () => {
      const { now, times } = wrongRows;
      const { stdout } = await service.run('audit');
      // An audit whose connection was cut has no report.
      const parsed = stdout === '' ? null : Report.parse(JSON.parse(stdout));
      if (now || wrongRows.times !== times) audits.besideWrongRows += 1;
      else if (parsed === null) audits.interrupted += 1;
      else if (parsed.findings.length + parsed.more === 0) audits.sound += 1;
      else fail(`at ${elapsed().toFixed(0)} s the audit found ${JSON.stringify(parsed)}`);
    }),
  ];
  await pauseFor(minutes * 60_000, stop.signal);
  stop.abort();
  await Promise.all(running);

  await compareWithLog(load.accepted);
  const last = await service.run('audit');
  if (last.exitCode !== 0) fail(`the audit at the end found ${last.stdout}`);
  if (service.listenerWarnings > 0) fail('MaxListenersExceededWarning appeared');
  if (service.unexpectedEnds > 0) fail(`serve ended by itself ${service.unexpectedEnds} times`);
  for (const [what, count] of load.unexpected) fail(`${count} unexpected answers: ${what}`);

  console.log(`${minutes} min, ${load.accepted.size} consents accepted, ${load.repeated} requests repeated.`);
  for (const [name, { times, takeOver }] of struck) {
    console.log(`${String(times).padStart(4)} x ${name}, all done again after ${takeOver.toFixed(1)} s at most`);
  }
  console.log(
    `Audits beside the load: ${audits.sound} without a finding, ${audits.interrupted} interrupted by a fault, ${audits.besideWrongRows} beside wrong rows.`,
  );
  // The first minute after a start fills caches.
  const steady = samples.filter(({ seconds }) => seconds > steadySince + 60);
  if (steady.length < LEAST_SAMPLES) {
    console.log('Too short to say whether memory, connections, lag and disk stay flat: give more --minutes.');
    return;
  }
  for (const { name, before, after, isFlat } of trendsOf(steady)) {
    console.log(`${name.padEnd(36)} ${before.toFixed(0).padStart(8)} -> ${after.toFixed(0).padStart(8)}`);
    if (!isFlat) fail(`${name} grew from ${before.toFixed(0)} to ${after.toFixed(0)}`);
  }
}

/**
 * Resolves when a consent that was logged after the fault is in a Merkle batch: every stage works again.
 * @returns seconds since `from`; null if the load ended meanwhile
 */
async function takenOver(from: number, signal: AbortSignal): Promise<number | null> {
  const sealed = () =>
    withDatabase(async (client) => {
      const { rows } = await client.query('select count(*)::int as n from leaves');
      return Leaves.parse(rows)[0].n;
    }).catch(() => null);
  const before = await sealed();
  while (performance.now() - from < GIVE_UP_SECONDS * 1_000) {
    const now = await sealed();
    if (before !== null && now !== null && now > before + LEAVES_OF_A_BATCH) break;
    if (signal.aborted) return null;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return (performance.now() - from) / 1_000;
}

async function measure(accepted: number, seconds: number): Promise<Sample> {
  const [api, worker] = await Promise.all([service.apiPid(), service.workerPid()]);
  const { connections, waiting, unsealed, bytes } = await withDatabase(async (client) => {
    const { rows } = await client.query(`
      select (select count(*) from pg_stat_activity where datname = current_database())::int as connections,
             (select coalesce(sum(count), 0) from event_log.waiting)::int as waiting,
             ((select count(*) from event_log.log where stream like 'consents-%' or stream like 'notices-%')
               - (select count(*) from leaves))::int as unsealed,
             pg_database_size(current_database())::text as bytes`);
    return Numbers.parse(rows)[0];
  });
  const [serveMiB, workerMiB, serveFiles, workerFiles] = await Promise.all([
    api === null ? null : residentMiB(api),
    worker === null ? null : residentMiB(worker),
    api === null ? 0 : openFiles(api),
    worker === null ? 0 : openFiles(worker),
  ]);
  const pids = `${api} ${worker}`;
  const files = { serveFiles, workerFiles };
  return {
    seconds,
    accepted,
    pids,
    serveMiB,
    workerMiB,
    ...files,
    connections,
    waiting,
    unsealed,
    databaseBytes: bytes,
  };
}

/** Descriptors of a process; 0 where the system does not list them. */
async function openFiles(pid: number): Promise<number> {
  return readdir(`/proc/${pid}/fd`).then(
    (names) => names.length,
    () => 0,
  );
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
  if (missing > 0) fail(`${missing} consents that were answered with 202 are not in the log`);
  if (logged.length !== accepted.size)
    fail(`the log has ${logged.length} consents, and ${accepted.size} were answered with 202`);
}

async function withDatabase<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: service.databaseUrl });
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
