import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROCESS_LIMITS, type ScanAnswer, type ScanJob } from '../../../src/tenancy/scans/visit.js';
import {
  createVisits,
  removeLeftFolders,
  runScanProcess,
  ScanProcessEnded,
} from '../../../src/tenancy/scans/visit-in-process.js';
import { until } from '../../support/wait.js';
import { NEW_VISITOR } from './scanned-shop.js';

/**
 * In place of the program of a scan. What it does is in a file, whose path is in its job. It notes its
 * folder and the id of a process that it starts beside the file.
 */
const STUB = `
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
process.stdin.once('data', (line) => {
  const job = JSON.parse(line);
  const path = job.kind === 'visit' ? job.userAgent : job.chromePath;
  const act = JSON.parse(readFileSync(path, 'utf8'));
  const beside = act.beside && spawn(process.execPath, ['-e', act.beside], { stdio: 'ignore' });
  const say = (answer) => process.stdout.write(JSON.stringify({ faults: 0, ...answer }) + '\\n');
  const note = { kind: job.kind, folder: process.cwd(), beside: beside?.pid, arguments: process.argv.slice(2) };
  appendFileSync(path + '.notes', JSON.stringify({ ...note, env: Object.keys(process.env) }) + '\\n');
  if (act.exit !== undefined) process.exit(act.exit);
  if (act.text !== undefined) process.stdout.write(act.text);
  else if (job.kind === 'stun') say({ kind: 'asked', isPacket: job.isGuarded ? act.guarded : act.control });
  else if (act.answer !== undefined) say(act.answer);
});`;

const VISIT = { finalUrl: 'https://shop.example/', status: 200, cookies: [], storage: [], hosts: [], isComplete: true };
const visited: ScanAnswer = { kind: 'visited', visit: VISIT, faults: 3 };
const never = new AbortController().signal;

interface Note {
  readonly kind: string;
  readonly folder: string;
  readonly beside?: number;
  readonly env: readonly string[];
  readonly arguments: readonly string[];
}

let folder: string;
let program: string;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scan-process-test-'));
  program = join(folder, 'stub.mjs');
  await writeFile(program, STUB);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes down what the stub does. @returns the path for its job */
const acting = async (act: object): Promise<string> => {
  count += 1;
  const path = join(folder, `act-${count}`);
  await writeFile(path, JSON.stringify(act));
  return path;
};
const notesOf = async (path: string): Promise<readonly Note[]> =>
  (await readFile(`${path}.notes`, 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const SHOP = { domain: 'shop.example', coversSubdomains: true };
const jobFor = (userAgent: string): ScanJob => ({
  kind: 'visit',
  url: 'https://shop.example/',
  proved: SHOP,
  visitor: NEW_VISITOR,
  chromePath: null,
  allowedNetworks: [],
  userAgent,
});
/** A process that was killed stays in the list until its parent has looked. */
const isGone = async (pid: number | undefined): Promise<boolean> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat === null || stat.includes(') Z ');
};

describe('the process of a visit', () => {
  const running = (path: string, limits = PROCESS_LIMITS, signal = never) =>
    runScanProcess(jobFor(path), { limits, signal, program });

  /** How a run ended, once nothing of it is left. */
  const endOf = async (act: object, limits = PROCESS_LIMITS, signal = never) => {
    const path = await acting(act);
    const error: unknown = await running(path, limits, signal).catch((reason: unknown) => reason);
    for (const note of await notesOf(path)) {
      expect(existsSync(note.folder)).toBe(false);
      if (note.beside !== undefined) await until(() => isGone(note.beside));
    }
    return error;
  };
  const END = { beside: 'setInterval(() => {}, 1e6)' };

  it('gets its job, no variable of the service and no argument, and leaves nothing behind', async () => {
    const path = await acting({ ...END, answer: visited });
    expect(await running(path)).toEqual(visited);
    const [note] = await notesOf(path);
    // The system of a Mac adds one of its own.
    const names = note?.env.filter((name) => !name.startsWith('__CF'));
    expect([names?.toSorted(), note?.arguments]).toEqual([['HOME', 'LANG', 'PATH', 'TMPDIR'], []]);
    expect(existsSync(note?.folder ?? '/')).toBe(false);
    await until(() => isGone(note?.beside));
  });

  it.each([
    ['ends by itself', { exit: 7 }, 'process'],
    ['answers more than its bound', { text: 'x'.repeat(PROCESS_LIMITS.answerBytes + 1) }, 'answer'],
    ['answers what is no JSON', { text: 'no\n' }, 'answer'],
    ['answers what is no visit', { answer: { ...visited, visit: { ...VISIT, status: '200' } } }, 'answer'],
    ['names a page that is none', { answer: { ...visited, visit: { ...VISIT, finalUrl: 'file:///x' } } }, 'answer'],
  ])('fails if it %s', async (_, act, end) => {
    expect(await endOf({ ...END, ...act })).toMatchObject({ name: 'ScanFailed', end });
  });

  it('is killed with all that it started when it takes too long, and when nobody waits any more', async () => {
    expect(await endOf(END, { ...PROCESS_LIMITS, processMs: 1_000 })).toMatchObject({ end: 'time' });
    const path = await acting(END);
    const stopping = new AbortController();
    const failed = running(path, PROCESS_LIMITS, stopping.signal);
    failed.catch(() => undefined);
    const [note] = await until(async () => ((await notesOf(path)).length > 0 ? notesOf(path) : null));
    stopping.abort();
    await expect(failed).rejects.toThrow('The page did not load in time.');
    await until(() => isGone(note?.beside));
  });

  it.runIf(existsSync('/proc'))('is killed when it and what it started use more memory than they may', async () => {
    const limits = { ...PROCESS_LIMITS, memoryBytes: 250_000_000, memoryEveryMs: 50 };
    const fill = (size: number) => ({ beside: `global.kept = Buffer.alloc(${size}, 1); setInterval(() => {}, 1e6)` });
    const error = await endOf(fill(300_000_000), limits);
    expect(error).toBeInstanceOf(ScanProcessEnded);
    expect(error).toMatchObject({ end: 'memory', message: 'The page needs more memory than a scan may use.' });
  });

  it('has a low priority, and ends with its browser when the service has ended', async () => {
    const browser = join(folder, 'browser');
    await writeFile(browser, `#!/bin/sh\necho $$ > ${folder}/browser.pid\nexec sleep 100000\n`, { mode: 0o755 });
    const child: ChildProcess = spawn(
      process.execPath,
      [createRequire(import.meta.url).resolve('#built/scan-process.js')],
      { stdio: ['pipe', 'ignore', 'inherit'], detached: true, cwd: folder, env: { TMPDIR: folder } },
    );
    const exited = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)));
    child.stdin?.write(`${JSON.stringify({ ...jobFor(''), chromePath: browser })}\n`);
    const pid = await until(async () => Number(await readFile(`${folder}/browser.pid`, 'utf8').catch(() => '')));
    expect([getPriority(child.pid), getPriority(pid)]).toEqual([10, 10]);
    child.stdin?.end();
    expect(await exited).toBe('SIGKILL');
    await until(() => isGone(pid));
  });
});

it('removes the folders that visits have left, and none that may be in use', async () => {
  const [old, older, fresh] = ['cl-scan-old', 'consent-ledger-scan-old', 'cl-scan-new'].map((name) =>
    join(tmpdir(), `${name}-${process.pid}`),
  );
  const now = Date.now();
  for (const one of [old, older, fresh]) await mkdir(join(one ?? '', 'profile'), { recursive: true });
  for (const one of [old, older]) await utimes(one ?? '', 0, (now - 11 * 60_000) / 1000);
  await removeLeftFolders(now);
  expect([old, older, fresh].map((one) => existsSync(one ?? ''))).toEqual([false, false, true]);
  await rm(fresh ?? '', { recursive: true });
});

describe('visits by browser', () => {
  const lines: string[] = [];
  const faults: [string, number][] = [];
  const visits = (chromePath: string) =>
    createVisits({
      chromePath,
      allowedNetworks: [],
      userAgent: chromePath,
      program,
      logger: pino({}, { write: (line) => lines.push(line) }),
      countFaults: (cause, number) => faults.push([cause, number]),
    });
  const url = new URL(VISIT.finalUrl);
  const kinds = async (path: string) => (await notesOf(path)).map(({ kind }) => kind);

  it('are made once the browser has shown that WebRTC is off, which it shows once', async () => {
    const path = await acting({ guarded: false, control: true, answer: visited });
    const visit = visits(path);
    expect(await Promise.all([1, 2].map(() => visit(url, SHOP, NEW_VISITOR, never)))).toEqual([VISIT, VISIT]);
    expect(await kinds(path)).toEqual(['stun', 'stun', 'visit', 'visit']);
    expect(faults).toContainEqual(['listener', 3]);
  });

  it('are off for good when a packet came with the flags', async () => {
    const path = await acting({ guarded: true, control: true, answer: visited });
    const visit = visits(path);
    for (const _ of [1, 2])
      await expect(visit(url, SHOP, NEW_VISITOR, never)).rejects.toThrow('Scans by browser are off');
    expect(await kinds(path)).toEqual(['stun']);
    expect(lines.join('')).toContain('browser scans are off');
  });

  it('fail when no packet came without the flags either, and try the proof again', async () => {
    const path = await acting({ guarded: false, control: false, answer: visited });
    const visit = visits(path);
    for (const _ of [1, 2])
      await expect(visit(url, SHOP, NEW_VISITOR, never)).rejects.toThrow('Scans by browser are off');
    expect(await kinds(path)).toEqual(['stun', 'stun', 'stun', 'stun']);
  });

  it('count the processes that end, and say so in the log', async () => {
    const path = await acting({ exit: 1 });
    faults.length = 0;
    await expect(visits(path)(url, SHOP, NEW_VISITOR, never)).rejects.toThrow('The scan ended unexpectedly');
    expect(faults).toEqual([['process', 1]]);
    expect(lines.join('')).toContain('it ended with exit code 1');
  });
});
