import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { ServiceLogger } from '../../platform/background/part.js';
import { abortOf, withAnySignal } from '../../platform/background/signals.js';
import type { ProvedDomain } from './scan-target.js';
import {
  PROCESS_LIMITS,
  PROOF_MS,
  type ProcessLimits,
  ScanAnswer,
  ScanFailed,
  type ScanJob,
  type Visit,
  type Visitor,
} from './visit.js';

/**
 * Prefix of the temporary folder of a visit. It is short because the browser creates a socket in the folder, and the
 * path of a socket has at most 107 bytes.
 */
const FOLDER = 'cl-scan-';
/** Includes the prefix of earlier versions. */
const FOLDERS = /^(?:cl|consent-ledger)-scan-/;

/**
 * Age at which a folder counts as abandoned: longer than any visit, because other services on the machine may be
 * scanning.
 */
const LEFT_BEHIND_MS = 10 * 60_000;

/** JavaScript heap of the process in megabytes, without its browser. */
const HEAP = 256;

/** The message for a visit that took too long, or that nobody waits for any more. */
const NOT_IN_TIME = 'The page did not load in time.';

/** Why a process gave no answer. */
const SCAN_ENDS = ['memory', 'time', 'process', 'answer'] as const;
type ScanEnd = (typeof SCAN_ENDS)[number];

/** The process of a visit was ended, or ended itself. */
export class ScanProcessEnded extends ScanFailed {
  /**
   * @param message the message, as shown to the user
   * @param reason the reason, as shown to the operator
   */
  constructor(
    readonly end: ScanEnd,
    message: string,
    readonly reason: string,
  ) {
    super(message);
  }
}

/** @param reason the reason, as shown to the operator */
const endedUnexpectedly = (end: ScanEnd, reason: string): ScanProcessEnded =>
  new ScanProcessEnded(end, 'The scan ended unexpectedly. Tell the operator of the service.', reason);

type Child = ChildProcessByStdio<Writable, Readable, null>;

export interface ScanProcessOptions {
  readonly limits: ProcessLimits;
  readonly signal: AbortSignal;
  /** Replaces the program, for tests. */
  readonly program?: string;
}

/**
 * Runs a job in a separate process, with the browser in its process group. A page that crashes or fills it only spoils
 * its own visit. The process gets nothing but its job, and no environment of this one.
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
      // A separate process group, which is killed as a whole.
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

/** Sends the process its job, and resolves with its only message. @throws ScanProcessEnded */
function answerOf({ stdin, stdout }: Child, job: ScanJob, limits: ProcessLimits): Promise<ScanAnswer> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => reject(endedUnexpectedly('answer', reason));
    const pieces: Buffer[] = [];
    let bytes = 0;
    // Writing fails if the process ends before it has read the job, which is reported elsewhere.
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

/** Rejects when the process ends or exceeds a limit. @throws ScanProcessEnded */
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

/** Kills a process and everything that it started. Its group exists as long as any of them does. */
function killGroup({ pid }: Child): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Returns the memory of a process group in bytes. Pages that several of its processes share are counted once (PSS).
 * @returns null if the system does not tell (no `/proc`, for example on macOS)
 */
async function groupMemory(group: number): Promise<number | null> {
  const names = await readdir('/proc').catch(() => null);
  if (names === null) return null;
  const processes = names.filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(
    processes.map(async (pid) => ((await groupOf(pid)) === group ? await memoryOf(pid) : 0)),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * Returns the process group: the fifth field. The second field is a name in parentheses, which can contain anything.
 */
async function groupOf(pid: string): Promise<number | null> {
  const stat = await textOf(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

/** Returns the memory of a process. If its shared pages cannot be read, only its private memory counts. */
async function memoryOf(pid: string): Promise<number> {
  const shares = /^Pss:\s+(\d+) kB$/m.exec(await textOf(pid, 'smaps_rollup'))?.[1];
  if (shares !== undefined) return Number(shares) * 1024;
  const own = [...(await textOf(pid, 'status')).matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)];
  return own.reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
}

/** Reads a file of a process. Empty if the process has ended meanwhile. */
function textOf(pid: string, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
}

/** Faults of a scan. `listener`: the page sent something that the proxy or the DevTools reader could not handle. */
export const SCAN_FAULTS = ['listener', ...SCAN_ENDS] as const;
export type CountScanFaults = (fault: (typeof SCAN_FAULTS)[number], count: number) => void;

export interface VisitOptions {
  /** Path of Chromium or Chrome, or undefined if pages are requested over plain HTTP, without scripts. */
  readonly chromePath: string | undefined;
  /** Non-public networks that may be reached anyway, on any port. */
  readonly allowedNetworks: readonly string[];
  readonly userAgent: string;
  readonly logger: ServiceLogger;
  readonly countFaults: CountScanFaults;
  /** Replaces the program of the processes, for tests. */
  readonly program?: string;
}

/**
 * One visit, in a process of its own.
 * @param proved verified domain that the page must stay on
 * @throws ScanFailed
 */
export type VisitInProcess = (url: URL, proved: ProvedDomain, visitor: Visitor, signal: AbortSignal) => Promise<Visit>;

/** Whether it is proved that the browser only uses its proxy. */
interface Proof {
  /** Why no page is scanned, as shown to the user. Null if the proof succeeded. */
  readonly failure: string | null;
  /** Whether another attempt would have the same result. */
  readonly isFinal: boolean;
}

const OFF = 'Scans by browser are off on this service. Tell its operator.';

/**
 * Creates visits in processes. Before the first one by browser, a page in the browser asks a port of the service by
 * WebRTC, once with the flags that switch it off, and once without them. Pages are visited only if the packet arrives
 * the second time but not the first. Otherwise a flag that this version of the browser does not know would go
 * unnoticed.
 */
export function createVisits(options: VisitOptions): VisitInProcess {
  const { chromePath, allowedNetworks, userAgent, logger, countFaults, program } = options;
  const optional = program === undefined ? {} : { program };
  let proving: Promise<Proof> | null = null;

  const tidy = (): Promise<void> =>
    removeLeftFolders(Date.now()).catch((error: unknown) => {
      logger.warn({ reason: String(error) }, 'folders of earlier scans could not be deleted');
    });
  void tidy();

  const run = async (job: ScanJob, signal: AbortSignal, limits = PROCESS_LIMITS): Promise<ScanAnswer> => {
    await tidy();
    try {
      const answer = await runScanProcess(job, { limits, signal, ...optional });
      countFaults('listener', answer.faults);
      if (answer.kind === 'failed') throw new ScanFailed(answer.message);
      if (answer.kind === 'broken') throw endedUnexpectedly('process', answer.at);
      return answer;
    } catch (error) {
      if (error instanceof ScanProcessEnded) {
        countFaults(error.end, 1);
        logger.warn({ reason: error.reason }, 'a scan process ended without a result');
      }
      throw error;
    }
  };

  const isAsked = async (executable: string, isGuarded: boolean): Promise<boolean> => {
    const limits = { ...PROCESS_LIMITS, processMs: PROOF_MS + 5_000 };
    const job = { kind: 'stun', chromePath: executable, isGuarded } as const;
    const answer = await run(job, new AbortController().signal, limits);
    if (answer.kind !== 'asked') throw new ScanFailed('The proof has no result.');
    return answer.isPacket;
  };

  const prove = async (executable: string): Promise<Proof> => {
    try {
      if (await isAsked(executable, true)) {
        logger.error({}, 'browser scans are off: the browser sends WebRTC packets around the scan proxy');
        return { failure: OFF, isFinal: true };
      }
      if (await isAsked(executable, false)) return { failure: null, isFinal: true };
      logger.error(
        {},
        'a scan failed: the check of WebRTC proved nothing, because the browser sent no packet even with WebRTC on',
      );
      return { failure: OFF, isFinal: false };
    } catch (error) {
      logger.error(
        { reason: String(error) },
        'a scan failed: it could not be proved that WebRTC is off in the browser',
      );
      return { failure: error instanceof ScanFailed ? error.message : OFF, isFinal: false };
    }
  };

  const requireProof = async (executable: string, signal: AbortSignal): Promise<void> => {
    proving ??= prove(executable);
    const aborted = abortOf(signal);
    const proof = await Promise.race([proving, aborted.promise]).finally(aborted.release);
    if (proof === 'aborted') throw new ScanFailed(NOT_IN_TIME);
    // On a machine that was too busy, the next attempt may succeed.
    if (!proof.isFinal) proving = null;
    if (proof.failure !== null) throw new ScanFailed(proof.failure);
  };

  return async (url, proved, visitor, signal) => {
    if (chromePath !== undefined) await requireProof(chromePath, signal);
    const answer = await run(
      {
        kind: 'visit',
        url: url.href,
        proved,
        visitor,
        chromePath: chromePath ?? null,
        allowedNetworks: [...allowedNetworks],
        userAgent,
      },
      signal,
    );
    if (answer.kind !== 'visited') throw endedUnexpectedly('answer', 'it answered another job');
    return answer.visit;
  };
}
