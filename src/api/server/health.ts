import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';

/** What a process that is ready cannot do as it should. */
export interface Readiness {
  /** Names of projections that stand still: what is answered from their views is out of date. */
  readonly stoppedProjections: readonly string[];
}

/** Resolves if this process can do its work; throws if not. */
export type CheckReadiness = () => Promise<Readiness>;

/**
 * GET /healthz: the process runs. GET /readyz: it can do its work, or (`degraded`) the part of it
 * that callers must not lose.
 */
export function healthRoutes(scope: FastifyInstance, checkReadiness: CheckReadiness): void {
  scope.get('/healthz', (_request, reply) => {
    reply.send({ status: 'ok' });
  });
  scope.get('/readyz', async () => {
    try {
      const { stoppedProjections } = await checkReadiness();
      if (stoppedProjections.length === 0) return { status: 'ready' };
      return { status: 'degraded', stopped_projections: stoppedProjections };
    } catch (cause) {
      const error = new ApiError('SERVICE_UNAVAILABLE', undefined, { retryAfterSeconds: 2 });
      error.cause = cause;
      throw error;
    }
  });
}
