import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { ServiceLogger } from '../../platform/background/part.js';
import { abortOf, withAnySignal } from '../../platform/background/signals.js';
import {
  type InitialCookie,
  PROCESS_LIMITS,
  PROOF_MS,
  type ProcessLimits,
  ScanAnswer,
  ScanFailed,
  type ScanJob,
  type Visit,
} from './visit.js';

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
const NOT_IN_TIME = 'The page did not load in time.';

/** Why a process gave no answer. */
const SCAN_ENDS = ['memory', 'time', 'process', 'answer'] as const;
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

/**
 * Returns the memory of a process group in bytes, with pages that several of its processes share counted
 * once (PSS).
 * @returns null where the system does not tell (no `/proc`: macOS)
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

/** The fifth field; the second one is a name in parentheses, in which anything can be. */
async function groupOf(pid: string): Promise<number | null> {
  const stat = await textOf(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

/** A process that may not be looked into counts with what it alone can have. */
async function memoryOf(pid: string): Promise<number> {
  const shares = /^Pss:\s+(\d+) kB$/m.exec(await textOf(pid, 'smaps_rollup'))?.[1];
  if (shares !== undefined) return Number(shares) * 1024;
  const own = [...(await textOf(pid, 'status')).matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)];
  return own.reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
}

/** Empty for a process that has ended meanwhile. */
function textOf(pid: string, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
}

/** Faults of a scan. `listener`: the page sent what the proxy or the reader of the browser could not take. */
export const SCAN_FAULTS = ['listener', ...SCAN_ENDS] as const;
export type CountScanFaults = (fault: (typeof SCAN_FAULTS)[number], count: number) => void;

export interface VisitOptions {
  /** Path of Chromium or Chrome; undefined: pages are requested by plain HTTP, without scripts. */
  readonly chromePath: string | undefined;
  /** Networks that are not public and may be reached nevertheless, on any port. */
  readonly allowedNetworks: readonly string[];
  readonly userAgent: string;
  readonly logger: ServiceLogger;
  readonly countFaults: CountScanFaults;
  /** Replaces the program of the processes, for tests. */
  readonly program?: string;
}

/**
 * One visit, in a process of its own.
 * @param domain verified domain that the page must stay on
 * @throws ScanFailed
 */
export type VisitInProcess = (
  url: URL,
  domain: string,
  cookie: InitialCookie | null,
  signal: AbortSignal,
) => Promise<Visit>;

/** Whether the browser is proved to keep to its proxy. */
interface Proof {
  /** Why no page is scanned, for the user; null: it is proved. */
  readonly failure: string | null;
  /** Whether another try would have the same result. */
  readonly isFinal: boolean;
}

const OFF = 'Scans by browser are off on this service. Tell its operator.';

/**
 * Creates visits in processes. Before the first one by browser, a page in the browser asks a port of
 * the service by WebRTC, once with the flags that switch it off, and once without them. No visit is made
 * unless the packet comes the second time alone: a flag that a version of the browser does not know
 * would else be missed.
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
    // A machine that was busy may prove it the next time.
    if (!proof.isFinal) proving = null;
    if (proof.failure !== null) throw new ScanFailed(proof.failure);
  };

  return async (url, domain, cookie, signal) => {
    if (chromePath !== undefined) await requireProof(chromePath, signal);
    const answer = await run(
      {
        kind: 'visit',
        url: url.href,
        domain,
        cookie,
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
