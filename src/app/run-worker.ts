import type { ReadinessReason } from '../platform/health.js';
import type { Installation } from './installation.js';
import { whenLogAnswers } from './prepare-installation.js';
import { startWorker, type Worker } from './worker.js';

/** The parts of a worker, which run or wait. */
export interface RunningWorker {
  /** Resolves when the parts run, or when they only wait for what they need. Rejects like `ended`. */
  readonly begun: Promise<void>;
  /** Resolves when the parts run for the first time; `stopped` if they never did. Rejects like `ended`. */
  readonly prepared: Promise<'running' | 'stopped'>;
  /** Returns why the parts do not do all their work. */
  reasons(): readonly ReadinessReason[];
  /** Rejects when a part fails permanently and an operator must act; resolves after `stop`. */
  readonly ended: Promise<void>;
  /** Finishes the current steps; a wait ends at once. */
  stop(): Promise<void>;
}

/**
 * Runs every background part, as soon as the event log answers. The promises of the result reject with
 * errors of keys, event log and authorities, each with a message for the operator.
 * @param onWaiting is called when the parts cannot run yet, and run later
 */
export function runWorker(installation: Installation, onWaiting: () => void = () => undefined): RunningWorker {
  const stopping = new AbortController();
  let worker: Worker | null = null;
  let waitsFor: readonly ReadinessReason[] = [];
  let onWaits = (): void => undefined;
  const waits = new Promise<void>((resolve) => {
    onWaits = resolve;
  });
  const wait = {
    seals: true,
    signal: stopping.signal,
    onWaiting: (reasons: readonly ReadinessReason[]) => {
      waitsFor = reasons;
      onWaiting();
      onWaits();
    },
  };
  const opened = whenLogAnswers(installation, wait, () => startWorker(installation)).then((started) => {
    worker = started;
    return started;
  });
  const running: RunningWorker = {
    begun: Promise.race([opened, waits]).then(() => undefined),
    prepared: opened.then((started) => (started === null ? 'stopped' : 'running')),
    ended: opened.then((started) => started?.ended),
    reasons: () => worker?.parts.flatMap((part) => part.reasons?.() ?? []) ?? waitsFor,
    stop: async () => {
      stopping.abort();
      await opened.catch(() => undefined);
      await worker?.stop();
    },
  };
  // The caller waits for some of them; the others must not end the program.
  for (const promise of [running.begun, running.prepared, running.ended]) promise.catch(() => undefined);
  return running;
}
