import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';

/**
 * Makes a second host name serve /tool/v1 and nothing else. @param host lower case, without port
 */
export function serveOnlyToolApiOn(app: FastifyInstance, host: string): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isRefused = request.hostname.toLowerCase() === host && !request.url.startsWith('/tool/v1/');
    done(isRefused ? new ApiError('ROUTE_NOT_FOUND') : undefined);
  });
}
