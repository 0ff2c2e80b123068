import type { FastifyInstance } from 'fastify';
import { serviceUnavailable } from '../../platform/errors/service-unavailable.js';

/** Degradations of a ready process. */
export interface Readiness {
  /** Names of stopped projections: responses from their read models are out of date. */
  readonly stoppedProjections: readonly string[];
  /** Whether the worker process of this process is down, and is being started again. */
  readonly isWorkerDown: boolean;
  /** Whether the event log has not answered since this process started. */
  readonly isLogAway: boolean;
}

/** Resolves if this process is ready; rejects otherwise. */
export type CheckReadiness = () => Promise<Readiness>;

/**
 * GET /healthz: the process runs. GET /readyz: the process is ready, or `degraded` while it can
 * still accept consents. A process that stops is not ready, while it still answers requests.
 */
export function healthRoutes(scope: FastifyInstance, checkReadiness: CheckReadiness): void {
  scope.get('/healthz', (_request, reply) => {
    reply.send({ status: 'ok' });
  });
  scope.get('/readyz', async () => {
    if (scope.isStopping()) {
      throw serviceUnavailable({ message: 'The process is stopping. Send requests to another process.' });
    }
    try {
      const { stoppedProjections, isWorkerDown, isLogAway } = await checkReadiness();
      if (stoppedProjections.length === 0 && !isWorkerDown && !isLogAway) return { status: 'ready' };
      return {
        status: 'degraded',
        stopped_projections: stoppedProjections,
        worker_is_down: isWorkerDown,
        event_log_is_away: isLogAway,
      };
    } catch (cause) {
      throw serviceUnavailable({ cause });
    }
  });
}
