import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';

/** Limits a second host name to /tool/v1. @param host lower case, without port */
export function serveOnlyToolApiOn(app: FastifyInstance, host: string): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isRefused = request.hostname.toLowerCase() === host && !request.url.startsWith('/tool/v1/');
    done(isRefused ? new ApiError('ROUTE_NOT_FOUND') : undefined);
  });
}
