import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { HeartbeatLimits } from '../../src/app/heartbeat-monitor.js';
import { type SupervisedProcess, superviseProcess } from '../../src/app/supervise-process.js';
import { OperatorNeeded } from '../../src/platform/background/part.js';

// Programs in place of the worker process, each with one fault.
const ON_START = `process.on('disconnect', () => process.exit(1));
process.on('message', (told) => {
  if (told.kind === 'stop') process.exit(0);
  if (told.kind === 'start') start();
});
const say = (message) => new Promise((resolve) => process.send(message, resolve));
`;
const PROGRAMS = {
  endsAtOnce: 'process.exit(3);',
  cannotStart: `${ON_START}
    const start = () => say({ kind: 'failed', message: 'Set TSA_CA_FILE.', needsOperator: false }).then(() => process.exit(1));`,
  needsOperator: `${ON_START}
    const start = () => say({ kind: 'running' })
      .then(() => say({ kind: 'failed', message: 'LedgerRolledBack', needsOperator: true })).then(() => process.exit(1));`,
  diesWhileRunning: `${ON_START}
    const start = () => say({ kind: 'running' }).then(() => process.exit(1));`,
  neverStops: `process.on('disconnect', () => process.exit(1));
    process.on('message', (told) => { if (told.kind === 'start') process.send({ kind: 'running' }); });`,
  blocksOnce: `${ON_START}
    import { existsSync, writeFileSync } from 'node:fs';
    setInterval(() => say({ kind: 'alive', reasons: [] }), 50);
    const start = async () => {
      await say({ kind: 'running' });
      if (existsSync(process.env.MARK)) return;
      writeFileSync(process.env.MARK, '');
      for (;;);
    };`,
  hasReasons: `${ON_START}
    const start = () => say({ kind: 'alive', reasons: [{ code: 'log_away', names: [] }] }).then(() => say({ kind: 'waiting' }));`,
  isSilent: `${ON_START}
    const start = () => say({ nonsense: 1 }).then(() => say({ kind: 'running' }));`,
};

let folder: string;
let worker: SupervisedProcess;
let log: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consent-ledger-supervise-'));
  for (const [name, text] of Object.entries(PROGRAMS)) await writeFile(join(folder, `${name}.mjs`), text);
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => worker.stop());

function supervise(name: keyof typeof PROGRAMS, silence?: HeartbeatLimits): SupervisedProcess {
  log = [];
  worker = superviseProcess({
    name: 'worker',
    program: pathToFileURL(join(folder, `${name}.mjs`)),
    env: () => ({ PATH: process.env.PATH, MARK: join(folder, 'mark') }),
    logger: pino({ level: 'info' }, { write: (line) => log.push(line) }),
    stopMs: 500,
    ...(silence !== undefined && { silence }),
  });
  return worker;
}

test('does not start with a worker that ends at once', async () => {
  await expect(supervise('endsAtOnce').start()).rejects.toThrow('exit code 3');
  expect(worker.reasons()).toEqual([{ code: 'worker_down' }]);
  expect(worker.restarts()).toBe(0);
});

test('does not start with a worker that cannot start, and gives its message', async () => {
  await expect(supervise('cannotStart').start()).rejects.toThrow(/^Set TSA_CA_FILE\.$/);
});

test('fails, without a restart, when the worker needs an operator', async () => {
  await supervise('needsOperator').start();
  const failure = await worker.failed.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(OperatorNeeded);
  expect(failure).toMatchObject({ message: 'LedgerRolledBack' });
  expect(worker.restarts()).toBe(0);
});

test('starts a worker again each time that it dies, after growing pauses', async () => {
  await supervise('diesWhileRunning').start();
  await expect.poll(() => worker.restarts(), { interval: 20 }).toBeGreaterThanOrEqual(4);
  await worker.stop();
  const times = log.map((line): { level: number; time: number } => JSON.parse(line));
  expect(times.every(({ level }) => level === 50)).toBe(true);
  // The third pause is at least 300 ms, and the first at least 75: no machine makes them shorter.
  const gaps = times.slice(1).map(({ time }, i) => time - (times[i]?.time ?? 0));
  expect(gaps[0]).toBeGreaterThanOrEqual(74);
  expect(gaps[2]).toBeGreaterThanOrEqual(299);
  const restarts = worker.restarts();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(worker.restarts()).toBe(restarts);
});

test('replaces a worker whose event loop is blocked, and shows it meanwhile', async () => {
  await supervise('blocksOnce', { tickMs: 50, silentMs: 500, hungMs: 2_000, startMs: 60_000 }).start();
  await expect.poll(() => worker.reasons(), { interval: 20 }).toEqual([{ code: 'worker_hung' }]);
  // A machine without a free processor can make its successor silent, too.
  await expect.poll(() => worker.restarts()).toBeGreaterThan(0);
  await expect.poll(() => worker.reasons()).toEqual([]);
  expect(log.join('')).toContain('it hung: its event loop did not turn');
});

test('gives the reasons of a worker that waits', async () => {
  await supervise('hasReasons').start();
  expect(worker.reasons()).toEqual([{ code: 'log_away', names: [] }]);
});

test('shows no metrics of a worker that does not answer, and ignores a message without meaning', async () => {
  await supervise('isSilent').start();
  expect(await worker.metrics()).toEqual([]);
  expect(worker.reasons()).toEqual([]);
  expect(log.join('')).toContain('a message from the worker process was ignored');
});

test('kills a worker that does not stop', async () => {
  await supervise('neverStops').start();
  await worker.stop();
  expect(worker.reasons()).toEqual([{ code: 'worker_down' }]);
  expect(log.join('')).toContain('does not stop');
});

test('stops a worker that was never started', async () => {
  supervise('isSilent');
  await worker.stop();
  await expect(Promise.race([worker.failed, 'stopped'])).resolves.toBe('stopped');
});
