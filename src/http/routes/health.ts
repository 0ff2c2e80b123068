import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';

/** Resolves if this process can do its work; throws if not. */
export type CheckReadiness = () => Promise<void>;

/** GET /healthz: the process runs. GET /readyz: it can do its work. */
export function healthRoutes(scope: FastifyInstance, checkReadiness: CheckReadiness): void {
  scope.get('/healthz', (_request, reply) => {
    reply.send({ status: 'ok' });
  });
  scope.get('/readyz', async () => {
    try {
      await checkReadiness();
    } catch (cause) {
      const error = new ApiError('SERVICE_UNAVAILABLE', undefined, { retryAfterSeconds: 2 });
      error.cause = cause;
      throw error;
    }
    return { status: 'ready' };
  });
}
