import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import {
  READINESS_REASONS,
  type Readiness,
  type ReadinessReason,
  type Serving,
  statusOf,
} from '../../platform/health.js';
import { sendError } from './error-response.js';

export interface HealthOptions {
  readonly readiness: Readiness;
  readonly serving: Serving;
}

const RETRY_AFTER_SECONDS = 2;

/**
 * Registers the health routes. GET /healthz answers as long as the event loop turns. It checks nothing else, so that an
 * outage of a dependency does not restart processes. GET /readyz answers `ready`, `degraded` or, with 503, `unready`,
 * with the reasons (READINESS_REASONS). A stopping process is unready, although it still answers requests.
 */
export function healthRoutes(scope: FastifyInstance, { readiness, serving }: HealthOptions): void {
  scope.get('/healthz', (_request, reply) => {
    reply.send({ status: 'ok' });
  });
  scope.get('/readyz', async (_request, reply) => {
    const stopping: readonly ReadinessReason[] = scope.isStopping() ? [{ code: 'stopping' }] : [];
    const found = stopping.length > 0 ? stopping : await readiness.reasons();
    const status = statusOf(found, serving);
    const reasons = found.map(({ code, names }) => ({
      code,
      message: READINESS_REASONS[code].message,
      ...(names !== undefined && { names }),
    }));
    if (status !== 'unready') return { status, reasons };
    const message = reasons.map((reason) => reason.message).join(' ');
    const error = new ApiError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    return sendError(reply, error, { status, reasons });
  });
}
