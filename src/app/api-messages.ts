import * as z from 'zod';
import { READINESS_CODES } from '../platform/health.js';
import { ToWorker } from './worker-messages.js';

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
