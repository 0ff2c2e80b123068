import { type ChildProcess, fork } from 'node:child_process';
import type { Server } from 'node:net';
import { URL } from 'node:url';
import { OperatorNeeded, type ServiceLogger } from '../platform/background/part.js';
import { BackOff, pause } from '../platform/background/waiting.js';
import type { Environment } from '../platform/config/index.js';
import { deferred } from '../platform/deferred.js';
import type { ReadinessReason } from '../platform/health.js';
import { type HeartbeatLimits, HeartbeatMonitor } from './heartbeat-monitor.js';
import type { ProcessMetrics } from './metrics/process-json.js';
import { FromWorker, type ToApi } from './process-messages.js';

/** A process that another one starts and replaces: the worker, or one that answers callers. */
export interface SupervisedProcess {
  /**
   * Lets the parts run; call it when the schema is up to date. Resolves when they run, or wait only for the event log.
   * @throws Error if the process ends instead, with its message for the operator
   */
  start(): Promise<void>;
  /** Resolves when the process runs for the first time. A worker has then checked its event log. */
  readonly prepared: Promise<void>;
  /** Rejects when a part fails permanently and an operator must act. */
  readonly failed: Promise<never>;
  /** Returns why the parts do not do all their work at the moment, or an empty list if they do. */
  reasons(): readonly ReadinessReason[];
  /** Returns how often the process was restarted. */
  restarts(): number;
  /** Sends a message to the process, unless it has just died. @param handle the handle that is sent with the message */
  tell(message: ToApi, handle?: Server): void;
  /** The metrics of the process. There are none while it does not answer. */
  metrics(): Promise<ProcessMetrics>;
  /**
   * Finishes the current steps, then ends the process. If it does not end in time, it is killed, which every part
   * survives.
   */
  stop(): Promise<void>;
}

/** The worker beside `serve`. */
export type WorkerBeside = Omit<SupervisedProcess, 'tell'>;

export interface SuperviseOptions {
  /** Name of the process in the log. */
  readonly name: 'worker' | 'API';
  /** Program of the process: worker-process.js, first-api-process.js, api-process.js, or one that fails. */
  readonly program: URL;
  readonly args?: readonly string[];
  /** Returns the variables of the process that is started next. */
  readonly env: () => Environment;
  readonly logger: ServiceLogger;
  /** Longest wait for the end of the process when it is stopped, in milliseconds. Null if there is no limit. */
  readonly stopMs?: number | null;
  /** How long a process may be silent before it is reported, and before it is killed. */
  readonly silence?: HeartbeatLimits;
  /** Takes a message that only its program sends. @returns false if it has no meaning */
  readonly onOther?: (message: unknown) => boolean;
}

/** The program of the worker process. */
export const WORKER_PROGRAM = new URL('./worker-process.js', import.meta.url);
/** The program of the first process that answers callers, of `serve` and of `api`. */
export const FIRST_API_PROGRAM = new URL('./first-api-process.js', import.meta.url);
/** The program of the further processes that answer callers. */
export const API_PROGRAM = new URL('./api-process.js', import.meta.url);

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A process that ran this long did not fail at its start. */
const STEADY_MS = 30_000;
/**
 * Longer than a step takes while everything it depends on answers. Shutdown must not wait for anything else, because
 * every part survives a kill.
 */
const STOP_MS = 20_000;
/**
 * Limits of a worker. The parts of a process that hangs this long lose their locks (part.ts), so a kill loses nothing.
 */
const SILENCE: HeartbeatLimits = { tickMs: 500, silentMs: 3_000, hungMs: 10_000, startMs: 120_000 };
/** Limits of a process that answers callers: longer than any work on the event loop, even on a busy machine. */
export const API_SILENCE: HeartbeatLimits = { tickMs: 500, silentMs: 60_000, hungMs: 60_000, startMs: 120_000 };
/** Longest time that a scrape waits for the metrics of the process. */
const METRICS_MS = 2_000;

/** `down`: not started yet, or restarting. `waiting`: the parts wait for what they need before they can run. */
type State = 'down' | 'waiting' | 'running';

/** How one process ended. */
interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly failure: { readonly message: string; readonly needsOperator: boolean } | null;
  readonly ranMs: number;
}

/**
 * Starts a process, which loads its program while the caller opens the installation. If it dies, it is replaced after a
 * pause that doubles up to ten seconds. If its event loop stands still, because it is blocked or the process was
 * stopped, it is also killed and replaced. The process writes its log to the standard error of this one.
 */
export function superviseProcess(options: SuperviseOptions): SupervisedProcess {
  const { name, program, args = [], env, logger, stopMs = STOP_MS, silence: limits = SILENCE } = options;
  const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  const stopping = new AbortController();
  const answers = new Map<number, (metrics: ProcessMetrics) => void>();
  let lastId = 0;
  let restarts = 0;
  let state: State = 'down';
  let isSilent = false;
  let said: readonly ReadinessReason[] = [];
  let child = spawn();
  const firstStart = deferred();
  const prepared = deferred();
  let hasStarted = false;

  function spawn(): ChildProcess {
    return fork(program, args, { env: env(), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  }

  function tell(message: ToApi, handle?: Server): void {
    // A process that has just died gets no message; its end is handled elsewhere.
    if (child.connected) child.send(message, handle, () => undefined);
  }

  function live(): Promise<End> {
    const startedAt = performance.now();
    let failure: End['failure'] = null;
    const silence = new HeartbeatMonitor(limits);
    const ticking = setInterval(() => {
      const found = silence.tick();
      isSilent = found !== 'alive';
      if (found !== 'hung') return;
      clearInterval(ticking);
      failure ??= { message: 'it hung: its event loop did not turn', needsOperator: false };
      child.kill('SIGKILL');
    }, limits.tickMs);
    child.on('message', (message) => {
      silence.heard();
      const parsed = FromWorker.safeParse(message);
      if (!parsed.success) {
        if (options.onOther?.(message) === true) return;
        logger.warn({ reason: parsed.error.message }, `a message from the ${name} process was ignored`);
        return;
      }
      const { data } = parsed;
      if (data.kind === 'alive') said = data.reasons;
      else if (data.kind === 'metrics') answers.get(data.id)?.(data.metrics);
      else if (data.kind === 'failed') failure = data;
      else {
        state = data.kind;
        silence.started();
        hasStarted = true;
        firstStart.resolve();
        if (state === 'running') prepared.resolve();
      }
    });
    return new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null): void => {
        clearInterval(ticking);
        state = 'down';
        isSilent = false;
        said = [];
        resolve({ code, signal, failure, ranMs: performance.now() - startedAt });
      };
      child.once('exit', end);
      child.once('error', (error) => {
        failure ??= { message: error.message, needsOperator: false };
        // A process that could not be created emits `error` but no `exit`.
        if (child.pid === undefined) end(null, null);
      });
    });
  }

  async function supervise(): Promise<void> {
    for (;;) {
      const { code, signal, failure, ranMs } = await live();
      if (stopping.signal.aborted) return;
      if (failure?.needsOperator === true) throw new OperatorNeeded(failure.message);
      const reason = failure?.message ?? `it ended with ${signal ?? `exit code ${code}`}`;
      if (!hasStarted) throw new Error(failure?.message ?? `The ${name} process did not start: ${reason}.`);
      if (ranMs > STEADY_MS) backOff.reset();
      restarts += 1;
      logger.error({ reason, restarts }, `the ${name} process ended unexpectedly; starting it again`);
      await pause(backOff.next(), stopping.signal);
      if (stopping.signal.aborted) return;
      child = spawn();
      tell({ kind: 'start', restarts });
    }
  }

  const ended = supervise();
  const failed = new Promise<never>((_, reject) => {
    ended.catch(reject);
  });
  // The caller awaits one of the two promises. A rejection of the other must not end the program.
  failed.catch(() => undefined);
  return {
    failed,
    prepared: prepared.promise,
    start: async () => {
      tell({ kind: 'start', restarts });
      await Promise.race([firstStart.promise, failed]);
    },
    reasons: () => {
      if (isSilent) return [{ code: 'worker_hung' }];
      return state === 'down' ? [{ code: 'worker_down' }] : said;
    },
    restarts: () => restarts,
    tell,
    metrics: async () => {
      if (state !== 'running') return [];
      lastId += 1;
      const id = lastId;
      const enough = new AbortController();
      let metrics: ProcessMetrics = [];
      answers.set(id, (answer) => {
        metrics = answer;
        enough.abort();
      });
      tell({ kind: 'metrics', id });
      await pause(METRICS_MS, enough.signal);
      answers.delete(id);
      return metrics;
    },
    stop: async () => {
      stopping.abort();
      tell({ kind: 'stop' });
      const kill = (): void => {
        logger.error({ after_ms: stopMs }, `the ${name} process does not stop; killing it`);
        child.kill('SIGKILL');
      };
      const hung = stopMs === null ? undefined : setTimeout(kill, stopMs);
      await ended.catch(() => undefined);
      clearTimeout(hung);
    },
  };
}
