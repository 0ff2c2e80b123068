import type { ChildProcess } from 'node:child_process';
import { z } from 'zod';

/** Requests of one run of the load generator. */
export const LoadJob = z.object({
  port: z.int(),
  path: z.string(),
  apiKey: z.string(),
  documentVersionId: z.string(),
  requests: z.int(),
  /** Consents in one request; 0: a single consent without a submission batch. */
  batch: z.int(),
  connections: z.int(),
  expectedStatus: z.int(),
});
export type LoadJob = z.infer<typeof LoadJob>;

export const LoadResult = z.object({ ms: z.number(), cpuMs: z.number() });
export type LoadResult = z.infer<typeof LoadResult>;

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
