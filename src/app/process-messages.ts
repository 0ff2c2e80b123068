import * as z from 'zod';
import { READINESS_CODES } from '../platform/health.js';
import { ProcessMetrics } from './metrics/process-json.js';

/** Interval at which the worker process says that its event loop turns, in milliseconds. */
export const HEARTBEAT_MS = 1_000;

/** Messages from `serve` to its worker process. */
export const ToWorker = z.discriminatedUnion('kind', [
  /** The schema is up to date: the parts may run. `restarts`: how often the process was started again. */
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
  /** The event loop turns, and for these reasons the process does not do all its work. */
  z.object({ kind: z.literal('alive'), reasons: Reasons }),
  /** The parts do not run yet: see the reasons of `alive`. */
  z.object({ kind: z.literal('waiting') }),
  /** The parts run. */
  z.object({ kind: z.literal('running') }),
  z.object({ kind: z.literal('metrics'), id: z.int(), metrics: ProcessMetrics }),
  /** The process ends. `needsOperator`: a restart would fail in the same way. */
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
  /** The metrics of all processes, which were asked for. */
  z.object({ kind: z.literal('text'), id: z.int(), text: z.string() }),
]);
export type ToApi = z.infer<typeof ToApi>;

/** Messages from such a process, besides those of `FromWorker`. */
export const FromApi = z.discriminatedUnion('kind', [
  /** Could answer callers. `server`: the database server that it reached. */
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

/** Sends a message to the process that started this one. Resolves also if that is gone, which ends this process. */
export function tellParent(message: FromWorker | FromApi | FromFirstApi): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, () => resolve());
  });
}

/**
 * Tells the process that started this one why this one ends.
 * @param needsOperator whether it fails again until an operator acts, so that it is not replaced
 */
export function tellFailure(error: unknown, needsOperator: boolean): Promise<void> {
  const message = error instanceof Error && error.message !== '' ? error.message : String(error);
  return tellParent({ kind: 'failed', message, needsOperator });
}

/** Leaves the signals of a group to the process that started this one, and ends with it. */
export function followParent(): void {
  // Ctrl-C and service managers signal every process of a group. The parent stops this process itself,
  // after it has answered its last request.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  // The parent was killed. Every part survives a kill at any point, consents that are not answered yet may be
  // repeated, and no process may be left over.
  process.on('disconnect', () => process.exit(1));
}
