import * as z from 'zod';
import { READINESS_CODES } from '../platform/health.js';
import { ProcessMetrics } from './metrics/process-json.js';

/** Interval, in milliseconds, at which the worker process reports that its event loop is running. */
export const HEARTBEAT_MS = 1_000;

/** Messages from `serve` to its worker process. */
export const ToWorker = z.discriminatedUnion('kind', [
  /** The schema is up to date, so the parts may run. `restarts` says how often the process was restarted. */
  z.object({ kind: z.literal('start'), restarts: z.int() }),
  /** Asks for the metrics of the process. */
  z.object({ kind: z.literal('metrics'), id: z.int() }),
  /** Finishes the current steps, then ends the process. */
  z.object({ kind: z.literal('stop') }),
]);
export type ToWorker = z.infer<typeof ToWorker>;

const Reasons = z.array(z.object({ code: z.enum(READINESS_CODES), names: z.array(z.string()) }));

/** Messages from the worker process to `serve`. */
export const FromWorker = z.discriminatedUnion('kind', [
  /** The event loop is running. `reasons` says why the process does not do all its work. */
  z.object({ kind: z.literal('alive'), reasons: Reasons }),
  /** The parts do not run yet: see the reasons of `alive`. */
  z.object({ kind: z.literal('waiting') }),
  /** The parts run. */
  z.object({ kind: z.literal('running') }),
  z.object({ kind: z.literal('metrics'), id: z.int(), metrics: ProcessMetrics }),
  /** The process ends. `needsOperator` says that a restart would fail in the same way. */
  z.object({ kind: z.literal('failed'), message: z.string(), needsOperator: z.boolean() }),
]);
export type FromWorker = z.infer<typeof FromWorker>;

/** Messages from the first process of `serve` to a further one that answers callers. */
export const ToApi = z.discriminatedUnion('kind', [
  ...ToWorker.options,
  /** Listens on the socket that comes with the message. */
  z.object({ kind: z.literal('listen') }),
  /** State of the worker: whether the log was checked, and why parts do not do all their work. */
  z.object({
    kind: z.literal('worker'),
    isPrepared: z.boolean(),
    reasons: z.array(z.object({ code: z.enum(READINESS_CODES), names: z.array(z.string()) })),
  }),
  /** The metrics of all processes, in response to a request. */
  z.object({ kind: z.literal('text'), id: z.int(), text: z.string() }),
]);
export type ToApi = z.infer<typeof ToApi>;

/** Messages from such a process, besides those of `FromWorker`. */
export const FromApi = z.discriminatedUnion('kind', [
  /** The process is ready to answer callers. `server` is the database server that it reached. */
  z.object({ kind: z.literal('opened'), server: z.string() }),
  /** The consents that it accepted since the last message. */
  z.object({ kind: z.literal('accepted'), eventIds: z.array(z.string()) }),
  /** Asks for the metrics of all processes. */
  z.object({ kind: z.literal('ask_text'), id: z.int() }),
]);
export type FromApi = z.infer<typeof FromApi>;

/** Message from the first process that answers callers, besides those of `FromWorker`: it listens on this URL. */
export const FromFirstApi = z.object({ kind: z.literal('listens'), url: z.url() });
export type FromFirstApi = z.infer<typeof FromFirstApi>;

/**
 * Sends a message to the process that started this one. It also resolves if that process is gone, which ends this one
 * anyway.
 */
export function tellParent(message: FromWorker | FromApi | FromFirstApi): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, () => resolve());
  });
}

/**
 * Tells the process that started this one why this one ends.
 * @param needsOperator whether it would fail again until an operator acts, and must therefore not be replaced
 */
export function tellFailure(error: unknown, needsOperator: boolean): Promise<void> {
  const message = error instanceof Error && error.message !== '' ? error.message : String(error);
  return tellParent({ kind: 'failed', message, needsOperator });
}

/** Ignores signals to the process group, which the parent process handles, and ends when the parent does. */
export function followParent(): void {
  // Ctrl-C and service managers signal every process of a group, but the parent stops this process itself after the
  // last request has been answered.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  // The parent was killed, and no process may be left over. Every part survives a kill at any point, and callers can
  // repeat consents that were not answered.
  process.on('disconnect', () => process.exit(1));
}
