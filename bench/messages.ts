import type { ChildProcess } from 'node:child_process';
import * as z from 'zod';

const Requests = z.object({
  port: z.int(),
  requests: z.int(),
  connections: z.int(),
  expectedStatus: z.int(),
});

/** Requests of one run of the load generator. */
export const LoadJob = z.discriminatedUnion('kind', [
  Requests.extend({
    kind: z.literal('signed'),
    path: z.string(),
    apiKey: z.string(),
    documentVersionId: z.string(),
    /** Consents in one request; 0: a single consent without a submission batch. */
    batch: z.int(),
    /** Whether each consent names a new person. */
    hasPerson: z.boolean(),
  }),
  /** Single consents for the service of peer.ts. */
  Requests.extend({ kind: z.literal('peer') }),
]);
export type LoadJob = z.infer<typeof LoadJob>;
export type SignedJob = Extract<LoadJob, { kind: 'signed' }>;

/** Milliseconds from the time at which a request was due to its whole answer. */
const Latencies = z.object({ p50: z.number(), p99: z.number(), most: z.number() });
export type Latencies = z.infer<typeof Latencies>;

export const LoadResult = z.object({ ms: z.number(), cpuMs: z.number(), latency: Latencies });
export type LoadResult = z.infer<typeof LoadResult>;

/** Commands to the generator of a sustained load. */
export const LoadCommand = z.discriminatedUnion('kind', [
  /** Signs requests in advance; "ready" follows. The requests take the targets in turn. */
  z.object({
    kind: z.literal('prepare'),
    port: z.int(),
    targets: z.array(z.object({ apiKey: z.string(), documentVersionId: z.string() })),
    requests: z.int(),
    connections: z.int(),
  }),
  /** Sends for so many milliseconds; a `SustainedResult` follows. */
  z.object({ kind: z.literal('go'), ms: z.number(), rate: z.number().nullable() }),
  /** Requests a second from now on; null: as fast as the connections allow. */
  z.object({ kind: z.literal('rate'), rate: z.number().nullable() }),
]);
export type LoadCommand = z.infer<typeof LoadCommand>;

export const SustainedResult = z.object({
  ms: z.number(),
  cpuMs: z.number(),
  accepted: z.int(),
  /** 503 QUEUE_OVERLOADED or 429, with Retry-After. */
  refused: z.int(),
  /** Any other answer by status and code, and connections that broke. */
  others: z.record(z.string(), z.int()),
  /** Requests that were due, and for which there was no free connection or no prepared request. */
  unsent: z.int(),
  acceptedLatency: Latencies,
  refusedLatency: Latencies,
});
export type SustainedResult = z.infer<typeof SustainedResult>;

/** Requests that a stranger repeats on each of its connections until the time is over. */
export const FloodCommand = z.object({
  port: z.int(),
  ms: z.number(),
  connections: z.int(),
  /** IPv6 networks (/64) that the requests come from in turn. */
  networks: z.int().min(1).max(65_536),
  /** Requests that are sent in turn; `{new}` in a body is another text each time. */
  requests: z.array(
    z.object({
      method: z.string(),
      path: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.string().optional(),
    }),
  ),
  /** The API key that signs each request. */
  signedBy: z.string().nullable(),
  /** The client leaves if it has no answer by then. */
  leaveAfterMs: z.number().nullable(),
  /** Bodies are sent, or answers are read, no faster than this. */
  bytesASecond: z.number().nullable(),
});
export type FloodCommand = z.infer<typeof FloodCommand>;

export const FloodResult = z.object({
  /** Answers by status, and connections that failed. */
  statuses: z.record(z.string(), z.int()),
  cpuMs: z.number(),
});
export type FloodResult = z.infer<typeof FloodResult>;

/** Resources that the service used since the last query. */
export const ServiceUsage = z.object({ cpuMs: z.number(), eventLoopUtilization: z.number() });
export type ServiceUsage = z.infer<typeof ServiceUsage>;

/**
 * Returns the next parsed message of a child process.
 * @throws Error if the child ends instead
 */
export function nextMessage<T>(child: ChildProcess, schema: z.ZodType<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown): void => {
      child.off('exit', onExit);
      const parsed = schema.safeParse(message);
      if (parsed.success) resolve(parsed.data);
      else reject(parsed.error);
    };
    const onExit = (code: number | null): void => {
      child.off('message', onMessage);
      reject(new Error(`a process of the benchmark ended with code ${code}`));
    };
    child.once('message', onMessage);
    child.once('exit', onExit);
  });
}
