import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { abortOf, withAnySignal } from '../../platform/background/signals.js';
import { groupMemory } from './group-memory.js';
import type { ProcessLimits } from './limits.js';
import { ScanAnswer, type ScanJob } from './scan-job.js';
import { ScanFailed } from './visit.js';

/**
 * The beginning of the name of each folder of a visit, among the temporary files of the system. It is short,
 * because the browser makes a socket in the folder, whose path has at most 107 bytes.
 */
const FOLDER = 'cl-scan-';
/** Those of earlier versions have another name. */
const FOLDERS = /^(?:cl|consent-ledger)-scan-/;

/** Longer than any visit. Processes of other services on the machine may be at work. */
const LEFT_BEHIND_MS = 10 * 60_000;

/** Megabytes of JavaScript of the process, without its browser. */
const HEAP = 256;

/** The message of a visit that took too long, or for which nobody waits any more. */
export const NOT_IN_TIME = 'The page did not load in time.';

/** Why a process gave no answer. */
export const SCAN_ENDS = ['memory', 'time', 'process', 'answer'] as const;
type ScanEnd = (typeof SCAN_ENDS)[number];

/** The process of a visit was ended, or ended itself. */
export class ScanProcessEnded extends ScanFailed {
  /**
   * @param message for the user
   * @param reason for the operator
   */
  constructor(
    readonly end: ScanEnd,
    message: string,
    readonly reason: string,
  ) {
    super(message);
  }
}

/** @param reason for the operator */
export const endedUnexpectedly = (end: ScanEnd, reason: string): ScanProcessEnded =>
  new ScanProcessEnded(end, 'The scan ended unexpectedly. Tell the operator of the service.', reason);

type Child = ChildProcessByStdio<Writable, Readable, null>;

export interface ScanProcessOptions {
  readonly limits: ProcessLimits;
  readonly signal: AbortSignal;
  /** Replaces the program, for tests. */
  readonly program?: string;
}

/**
 * Runs a job in a process of its own, with the browser in its group: a page that ends or fills it costs
 * its own visit. The process gets no variable of this one, and nothing but its job.
 * @throws ScanProcessEnded if it gave no answer within its limits; ScanFailed if `signal` was aborted
 */
export async function runScanProcess(
  job: ScanJob,
  { limits, signal, program = createRequire(import.meta.url).resolve('#built/scan-process.js') }: ScanProcessOptions,
): Promise<ScanAnswer> {
  if (signal.aborted) throw new ScanFailed(NOT_IN_TIME);
  const folder = await mkdtemp(join(tmpdir(), FOLDER));
  try {
    const child = spawn(process.execPath, [`--max-old-space-size=${HEAP}`, program], {
      stdio: ['pipe', 'pipe', 'ignore'],
      cwd: folder,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8' },
      // A group of its own, which is killed as a whole.
      detached: true,
    });
    const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
    const waiting = new AbortController();
    try {
      return await Promise.race([
        answerOf(child, job, limits),
        endOf(child, limits, waiting.signal),
        aborted(signal, waiting.signal),
      ]);
    } finally {
      waiting.abort();
      killGroup(child);
      await ended;
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Removes folders of visits whose process was killed together with this one. */
export async function removeLeftFolders(now: number): Promise<void> {
  const names = await readdir(tmpdir());
  for (const name of names.filter((one) => FOLDERS.test(one))) {
    const folder = join(tmpdir(), name);
    const changed = await stat(folder).catch(() => null);
    if (changed !== null && now - changed.mtimeMs > LEFT_BEHIND_MS) await rm(folder, { recursive: true, force: true });
  }
}

/** Gives the process its job, and resolves with its one message. @throws ScanProcessEnded */
function answerOf({ stdin, stdout }: Child, job: ScanJob, limits: ProcessLimits): Promise<ScanAnswer> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => reject(endedUnexpectedly('answer', reason));
    const pieces: Buffer[] = [];
    let bytes = 0;
    // It ends without a job if it ends before it has read it.
    stdin.on('error', () => undefined);
    stdin.write(`${JSON.stringify(job)}\n`);
    stdout.on('error', (error) => fail(error.message));
    stdout.on('data', (piece: Buffer) => {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes > limits.answerBytes) fail('its answer is too long');
      else if (piece.includes('\n')) {
        const answer = parsed(Buffer.concat(pieces).toString('utf8'));
        if (answer === null) fail('its answer is none');
        else resolve(answer);
      }
    });
  });
}

function parsed(text: string): ScanAnswer | null {
  try {
    return ScanAnswer.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Rejects when the process ends, or passes a limit. @throws ScanProcessEnded */
function endOf(child: Child, limits: ProcessLimits, waiting: AbortSignal): Promise<never> {
  const { processMs, memoryBytes, memoryEveryMs } = limits;
  return new Promise((_, reject) => {
    child.once('error', (error) => reject(endedUnexpectedly('process', error.message)));
    child.once('exit', (code, signal) =>
      reject(endedUnexpectedly('process', `it ended with ${signal ?? `exit code ${code}`}`)),
    );
    const tooLong = setTimeout(
      () => reject(new ScanProcessEnded('time', NOT_IN_TIME, `it took more than ${processMs} ms`)),
      processMs,
    );
    const reading = setInterval(async () => {
      const bytes = child.pid === undefined ? null : await groupMemory(child.pid);
      if (bytes === null || bytes <= memoryBytes) return;
      const message = 'The page needs more memory than a scan may use.';
      reject(new ScanProcessEnded('memory', message, `it used ${Math.round(bytes / 1_000_000)} MB of memory`));
    }, memoryEveryMs);
    waiting.addEventListener('abort', () => {
      clearTimeout(tooLong);
      clearInterval(reading);
    });
  });
}

/** Rejects when the caller no longer waits. */
async function aborted(signal: AbortSignal, waiting: AbortSignal): Promise<never> {
  await withAnySignal([signal, waiting], (either) => abortOf(either).promise);
  throw new ScanFailed(NOT_IN_TIME);
}

/** Kills a process with all that it started. Its group is there as long as one of them is. */
function killGroup({ pid }: Child): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
