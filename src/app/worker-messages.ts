import { z } from 'zod';
import { ProcessMetrics } from './metrics/process-json.js';

/** What `serve` says to its worker process. */
export const ToWorker = z.discriminatedUnion('kind', [
  /** The schema is up to date: the parts may run. */
  z.object({ kind: z.literal('start') }),
  /** Asks for the metrics of the process. */
  z.object({ kind: z.literal('metrics'), id: z.int() }),
  /** Finishes the current steps, then ends the process. */
  z.object({ kind: z.literal('stop') }),
]);
export type ToWorker = z.infer<typeof ToWorker>;

/** What the worker process of `serve` says. */
export const FromWorker = z.discriminatedUnion('kind', [
  /** The event log does not answer: the parts run as soon as it does. */
  z.object({ kind: z.literal('waiting') }),
  /** The parts run. */
  z.object({ kind: z.literal('running') }),
  z.object({ kind: z.literal('metrics'), id: z.int(), metrics: ProcessMetrics }),
  /** The process ends. `needsOperator`: a restart would fail in the same way. */
  z.object({ kind: z.literal('failed'), message: z.string(), needsOperator: z.boolean() }),
]);
export type FromWorker = z.infer<typeof FromWorker>;
