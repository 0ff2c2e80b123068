// Before each test file: its modules belong to what it uses.
import childProcess from 'node:child_process';
import { channel } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
import pg from 'pg';
import { afterAll } from 'vitest';
import { calibrate, countProcess, countSession, usedSince, usedSoFar } from './usage.js';

const COUNTING = Symbol.for('consent-ledger.test.counting');
if (!Reflect.has(globalThis, COUNTING)) {
  Reflect.set(globalThis, COUNTING, true);
  countProcesses();
  pg.Client.prototype.connect = counted(pg.Client.prototype.connect, countSession);
}
// Before each file: what else the machine does slows the work of both.
const calibration = calibrate();
const before = usedSoFar();
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the fixtures from the pattern, and there are none.
afterAll(({}, suite) => {
  suite.meta.usage = { ...usedSince(before), calibration };
});

/** Counts the processes that this worker starts from now on. */
function countProcesses(): void {
  const isStart = (message: unknown): message is { process: childProcess.ChildProcess } =>
    message instanceof Object && 'process' in message && message.process instanceof childProcess.ChildProcess;
  channel('child_process').subscribe((message) => {
    if (isStart(message)) message.process.once('spawn', () => countProcess(message.process.spawnfile));
  });
  // Nothing is published of those that are waited for.
  const count = (program: unknown): void => countProcess(String(program));
  childProcess.spawnSync = counted(childProcess.spawnSync, count);
  childProcess.execFileSync = counted(childProcess.execFileSync, count);
  syncBuiltinESMExports();
}

/** @param count is called before each start, with its first argument */
function counted<T extends (...given: never[]) => unknown>(start: T, count: (first: unknown) => void): T {
  return new Proxy(start, {
    apply(target, receiver, given) {
      count(given[0]);
      return Reflect.apply(target, receiver, given);
    },
  });
}
