import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import cliProgress from 'cli-progress';
import pg from 'pg';
import * as z from 'zod';
import { openEmbeddedPostgres } from '../../../src/platform/database/embedded/index.js';
import { openBench, prepareDatabase } from './bench.js';
import { type Outcome, runHistory } from './history.js';
import { type Plan, planOf } from './plan.js';
import { kindOf, shrink } from './shrink.js';

/** A history that broke a rule. */
interface Failure extends Outcome {
  readonly plan: Plan;
}

const Message = z.object({
  done: z.int(),
  failure: z
    .object({ plan: z.looseObject({ seed: z.int() }), trace: z.array(z.string()), problems: z.array(z.string()) })
    .optional(),
});

const REPORT_EVERY = 10;
/** Dead rows of earlier histories slow the next ones down. */
const VACUUM_EVERY = 200;
const TEMPLATE = 'simulation_template';

/** Runs consecutive seeds up to the first one that breaks a rule, on two databases of its own. */
async function runSeeds(leader: string, standby: string, first: number, count: number): Promise<void> {
  const bench = await openBench(leader, standby);
  const send = (message: unknown): Promise<void> =>
    new Promise((resolve) => {
      process.send?.(message, () => resolve());
    });
  for (let done = 0; done < count; done += 1) {
    const plan = planOf(first + done);
    const outcome = await runHistory(plan, bench);
    if (outcome.problems.length > 0) {
      const kinds = new Set(outcome.problems.map(kindOf));
      const failsAgain = async (one: Plan): Promise<boolean> =>
        (await runHistory(one, bench)).problems.some((problem) => kinds.has(kindOf(problem)));
      const shortest = await shrink(plan, failsAgain);
      await send({ failure: { plan: shortest, ...(await runHistory(shortest, bench)) }, done: done + 1 });
      break;
    }
    if ((done + 1) % VACUUM_EVERY === 0) await bench.leader.query('vacuum');
    if ((done + 1) % REPORT_EVERY === 0 || done + 1 === count) await send({ done: done + 1 });
  }
  await Promise.all([bench.leader.end(), bench.standby.end()]);
}

/** Runs the histories of a command line in several processes. @returns whether all kept the rules */
async function simulate(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      histories: { type: 'string', default: '1000' },
      processes: { type: 'string', default: String(availableParallelism() * 2) },
      plan: { type: 'string' },
    },
  });
  const whole = z.coerce.number().int().min(1).max(999_999_999);
  const [first, histories] = [whole.parse(values.seed), whole.parse(values.histories)];
  const processes = Math.min(whole.parse(values.processes), histories);
  const folder = await mkdtemp(join(tmpdir(), 'simulate-'));
  const server = await openEmbeddedPostgres({
    dataDir: join(folder, 'data'),
    rootHomeBase: `${folder}-home`,
    log: () => undefined,
  });
  try {
    const urls = await createDatabases(server.superuserUrl, values.plan === undefined ? processes : 1);
    if (values.plan !== undefined)
      return await repeat(values.plan, urls[0] ?? [server.superuserUrl, server.superuserUrl]);
    return await simulateAll(urls, first, histories);
  } finally {
    await server.release();
    await rm(folder, { recursive: true, force: true });
    await rm(`${folder}-home`, { recursive: true, force: true });
  }
}

type Urls = readonly [leader: string, standby: string];

async function createDatabases(superuserUrl: string, pairs: number): Promise<readonly Urls[]> {
  const urlOf = (name: string): string => {
    const url = new URL(superuserUrl);
    url.pathname = `/${name}`;
    return url.href;
  };
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await prepareDatabase(urlOf(TEMPLATE));
  const urls: Urls[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const names = [`leader_${pair}`, `standby_${pair}`] as const;
    for (const name of names) await client.query(`create database ${name} template ${TEMPLATE} strategy file_copy`);
    urls.push([urlOf(names[0]), urlOf(names[1])]);
  }
  await client.end();
  return urls;
}

/** Runs the history of one plan, and prints it. */
async function repeat(text: string, [leader, standby]: Urls): Promise<boolean> {
  const parsed: unknown = JSON.parse(text);
  const { seed } = z.looseObject({ seed: z.int() }).parse(parsed);
  const bench = await openBench(leader, standby);
  const plan: Plan = Object.assign(planOf(seed), parsed);
  const outcome = await runHistory(plan, bench);
  await Promise.all([bench.leader.end(), bench.standby.end()]);
  console.log([...outcome.trace, ...outcome.problems.map((problem) => `BROKEN: ${problem}`)].join('\n'));
  return outcome.problems.length === 0;
}

async function simulateAll(urls: readonly Urls[], first: number, histories: number): Promise<boolean> {
  const bar = new cliProgress.SingleBar({
    format: 'histories [{bar}] {value}/{total}, about {eta_formatted} left',
    hideCursor: true,
  });
  const began = performance.now();
  bar.start(histories, 0);
  const share = Math.ceil(histories / urls.length);
  const done = urls.map(() => 0);
  const sum = (): number => done.reduce((all, one) => all + one, 0);
  let failure: Failure | null = null;
  const children = urls.map(([leader, standby], place) => {
    const from = first + place * share;
    const count = Math.max(0, Math.min(share, first + histories - from));
    const child = fork(fileURLToPath(import.meta.url), ['child', leader, standby, String(from), String(count)]);
    child.on('message', (message) => {
      const parsed = Message.parse(message);
      done[place] = parsed.done;
      bar.update(sum());
      if (parsed.failure === undefined || failure !== null) return;
      const { plan, trace, problems } = parsed.failure;
      failure = { plan: Object.assign(planOf(plan.seed), plan), trace, problems };
      for (const other of children) if (other !== child) other.kill();
    });
    return child;
  });
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
  bar.stop();
  const seconds = (performance.now() - began) / 1_000;
  console.log(`${sum()} histories in ${seconds.toFixed(1)} s, ${Math.round((sum() / seconds) * 3_600)} an hour`);
  if (failure === null) {
    if (codes.some((code) => code !== 0)) throw new Error('a process of the simulation failed');
    console.log(`All kept the rules (seeds ${first} to ${first + histories - 1}).`);
    return true;
  }
  printFailure(failure);
  return false;
}

function printFailure({ plan, trace, problems }: Failure): void {
  console.log(`Seed ${plan.seed} breaks a rule. Shortest history:`);
  console.log(trace.join('\n'));
  for (const problem of problems) console.log(`BROKEN: ${problem}`);
  for (const { at, fault } of plan.disturbances) console.log(`  before call ${at}: ${fault}`);
  console.log(`Repeat it: npm run simulate -- --plan '${JSON.stringify(plan)}'`);
}

const [role, leader = '', standby = '', first, count] = process.argv.slice(2);
if (role === 'child') {
  await runSeeds(leader, standby, Number(first), Number(count));
  process.disconnect();
} else {
  process.exitCode = (await simulate()) ? 0 : 1;
}
