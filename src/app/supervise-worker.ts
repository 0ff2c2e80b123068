import { type ChildProcess, fork } from 'node:child_process';
import { URL } from 'node:url';
import { OperatorNeeded, type ServiceLogger } from '../platform/background/part.js';
import { BackOff, pause } from '../platform/background/waiting.js';
import type { Environment } from '../platform/config/index.js';
import type { ProcessMetrics } from './metrics/process-json.js';
import { FromWorker, type ToWorker } from './worker-messages.js';

/** A worker beside the API of `serve`, in a process of its own. */
export interface WorkerBeside {
  /**
   * Lets the parts run, as soon as the schema is up to date. Resolves when they run, or when they
   * only wait for the event log.
   * @throws Error if the first process ends instead, with its message for the operator
   */
  start(): Promise<void>;
  /** Resolves when the parts run for the first time: the event log is checked. */
  readonly prepared: Promise<void>;
  /** Rejects when a part fails permanently and an operator must act. */
  readonly failed: Promise<never>;
  /** Whether the parts run now. */
  isRunning(): boolean;
  /** How often the process was started again. */
  restarts(): number;
  /** The metrics of the process; none while it does not answer. */
  metrics(): Promise<ProcessMetrics>;
  /**
   * Finishes the current steps, then ends the process. One that does not end in time is killed, which
   * every part survives.
   */
  stop(): Promise<void>;
}

export interface SuperviseOptions {
  /** Program of the process: worker-process.js, or one that fails. */
  readonly program: URL;
  readonly env: Environment;
  readonly logger: ServiceLogger;
  /** Longest wait for the end of the process when it is stopped, in milliseconds. */
  readonly stopMs?: number;
}

/** The program of the worker process. */
export const WORKER_PROGRAM = new URL('./worker-process.js', import.meta.url);

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A process that ran this long did not fail at start. */
const STEADY_MS = 30_000;
/** Longer than any statement, so that only a process that hangs is killed. */
const STOP_MS = 45_000;
/** Longest wait of a scrape for the metrics of the process. */
const METRICS_MS = 2_000;

/** How one process ended. */
interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly failure: { readonly message: string; readonly needsOperator: boolean } | null;
  readonly ranMs: number;
}

/**
 * Starts the worker process, which loads its program while the caller opens the installation. A
 * process that dies is replaced, after a pause that doubles up to ten seconds. The process writes
 * its log to the standard error of this one.
 */
export function superviseWorker({ program, env, logger, stopMs = STOP_MS }: SuperviseOptions): WorkerBeside {
  const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  const stopping = new AbortController();
  const answers = new Map<number, (metrics: ProcessMetrics) => void>();
  let lastId = 0;
  let restarts = 0;
  let isRunning = false;
  let child = spawn();
  let onFirstStart = (): void => undefined;
  const firstStart = new Promise<void>((resolve) => {
    onFirstStart = resolve;
  });
  let onPrepared = (): void => undefined;
  const prepared = new Promise<void>((resolve) => {
    onPrepared = resolve;
  });
  let hasStarted = false;

  function spawn(): ChildProcess {
    return fork(program, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  }

  function tell(message: ToWorker): void {
    // A process that has just died gets no message; its end is handled elsewhere.
    if (child.connected) child.send(message, () => undefined);
  }

  function live(): Promise<End> {
    const startedAt = performance.now();
    let failure: End['failure'] = null;
    child.on('message', (message) => {
      const parsed = FromWorker.safeParse(message);
      if (!parsed.success) {
        logger.warn({ reason: parsed.error.message }, 'a message of the worker process was ignored');
        return;
      }
      const said = parsed.data;
      if (said.kind === 'metrics') answers.get(said.id)?.(said.metrics);
      else if (said.kind === 'failed') failure = said;
      else {
        isRunning = said.kind === 'running';
        hasStarted = true;
        onFirstStart();
        if (isRunning) onPrepared();
      }
    });
    return new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null): void => {
        isRunning = false;
        resolve({ code, signal, failure, ranMs: performance.now() - startedAt });
      };
      child.once('exit', end);
      child.once('error', (error) => {
        failure ??= { message: error.message, needsOperator: false };
        // Only a process that could not be created emits no `exit`.
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
      if (!hasStarted) throw new Error(failure?.message ?? `The worker process did not start: ${reason}.`);
      if (ranMs > STEADY_MS) backOff.reset();
      restarts += 1;
      logger.error({ reason, restarts }, 'the worker process ended unexpectedly; starting it again');
      await pause(backOff.next(), stopping.signal);
      if (stopping.signal.aborted) return;
      child = spawn();
      tell({ kind: 'start' });
    }
  }

  const ended = supervise();
  const failed = new Promise<never>((_, reject) => {
    ended.catch(reject);
  });
  // Whoever starts the process waits for one of them; the other must not end the program.
  failed.catch(() => undefined);
  return {
    failed,
    prepared,
    start: async () => {
      tell({ kind: 'start' });
      await Promise.race([firstStart, failed]);
    },
    isRunning: () => isRunning,
    restarts: () => restarts,
    metrics: async () => {
      if (!isRunning) return [];
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
      const hung = setTimeout(() => {
        logger.error({ after_ms: stopMs }, 'the worker process does not stop; killing it');
        child.kill('SIGKILL');
      }, stopMs);
      await ended.catch(() => undefined);
      clearTimeout(hung);
    },
  };
}
