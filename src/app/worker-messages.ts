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
