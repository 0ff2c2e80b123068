import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import cliProgress from 'cli-progress';

// Runs histories of the simulation: `npm run simulate -- --seed 7 --histories 1000`.

/** A history waits for PostgreSQL most of the time, so that several share a processor. */
const PROCESSES_A_CORE = 4;
const SHOW_EVERY_MS = 500;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    histories: { type: 'string', default: '20' },
    processes: { type: 'string', default: String(availableParallelism() * PROCESSES_A_CORE) },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (/^[1-9]\d{0,8}$/.test(value)) continue;
  console.error(`--${name} takes a whole number above 0.`);
  process.exit(2);
}
const first = Number(values.seed);
const histories = Number(values.histories);
/** Consecutive seeds of each process. */
const share = Math.ceil(histories / Number(values.processes));
const processes = Math.ceil(histories / share);

const folder = await mkdtemp(join(tmpdir(), 'simulate-'));
/** One byte for each history that kept the rules. */
const done = join(folder, 'done');
await writeFile(done, '');
const bar = new cliProgress.SingleBar({
  format: 'histories [{bar}] {value}/{total}, about {eta_formatted} left',
  hideCursor: true,
});
bar.start(histories, 0);
const show = async () => bar.update((await stat(done)).size);
const showing = setInterval(() => void show(), SHOW_EVERY_MS);
const started = Array.from({ length: processes }, (_, place) =>
  simulate(first + place * share, Math.min(share, histories - place * share)),
);
/** The output of the first process that found a broken rule; null if there is none. */
let problem = null;
try {
  await Promise.all(
    started.map(async ({ child, output }) => {
      const [status] = await once(child, 'exit');
      if (status === 0 || problem !== null) return;
      problem = output.join('');
      for (const other of started) other.child.kill();
    }),
  );
  await show();
} finally {
  clearInterval(showing);
  bar.stop();
  await rm(folder, { recursive: true, force: true });
}
if (problem !== null) console.error(problem);
else console.log(`${histories} histories kept the rules (seeds ${first} to ${first + histories - 1}).`);
process.exit(problem === null ? 0 : 1);

/** Runs consecutive seeds in a process with a PostgreSQL of its own. */
function simulate(seed, count) {
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', 'test/reliability/simulation', '-t', 'every history', '--testTimeout=0'],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        SIMULATE_SEED: String(seed),
        SIMULATE_HISTORIES: String(count),
        SIMULATE_DONE: done,
      },
    },
  );
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)));
  return { child, output };
}
