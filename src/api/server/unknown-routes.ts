import type { FastifyInstance, HTTPMethods } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { sendError } from './error-response.js';

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Collects every route registered after this call.
 * @returns a function to call after all registrations; it answers the other methods of these routes
 *   with 405 and Allow (RFC 9110 §15.5.6)
 */
export function collectRoutes(app: FastifyInstance): (scope: FastifyInstance) => void {
  const methodsByUrl = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    if (url.endsWith('*')) return;
    const methods = methodsByUrl.get(url) ?? new Set();
    for (const one of Array.isArray(method) ? method : [method]) methods.add(one);
    methodsByUrl.set(url, methods);
  });
  return (scope) => {
    for (const [url, methods] of [...methodsByUrl]) {
      const allow = [...methods].sort().join(', ');
      const missing = METHODS.filter((method) => !methods.has(method));
      scope.route({
        method: missing,
        url,
        bodyLimit: 1,
        onRequest: (_request, reply) => {
          sendError(reply.header('allow', allow), new ApiError('METHOD_NOT_ALLOWED'));
        },
        handler: () => undefined,
      });
    }
  };
}
