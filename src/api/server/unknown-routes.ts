import type { FastifyInstance, HTTPMethods } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { sendError } from './error-response.js';

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/**
 * Collects every route registered after this call.
 * @returns a function to call after all registrations; it answers the other methods of these routes
 *   with 405 and Allow (RFC 9110 §15.5.6)
 */
export function collectRoutes(app: FastifyInstance): (scope: FastifyInstance) => void {
  const methodsByUrl = new Map<string, Set<string>>();
  /** Prefixes below which another route answers preflight requests. */
  const preflights: string[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    if (method === 'OPTIONS' && url.endsWith('*')) return void preflights.push(url.slice(0, -1));
    const methods = methodsByUrl.get(url) ?? new Set();
    for (const one of Array.isArray(method) ? method : [method]) methods.add(one);
    methodsByUrl.set(url, methods);
  });
  return (scope) => {
    for (const [url, methods] of [...methodsByUrl]) {
      const allow = [...methods].sort().join(', ');
      const hasPreflight = preflights.some((prefix) => url.startsWith(prefix));
      const missing = METHODS.filter((method) => !methods.has(method) && !(hasPreflight && method === 'OPTIONS'));
      scope.route({
        method: missing,
        url,
        bodyLimit: 1,
        exposeHeadRoute: false,
        onRequest: (_request, reply) => {
          sendError(reply.header('allow', allow), new ApiError('METHOD_NOT_ALLOWED'));
        },
        handler: () => undefined,
      });
    }
  };
}

/** The pages of the dashboard, whose paths its own router reads. */
const DASHBOARD = '/panel/*';

/**
 * Responds with 404 to a path that ends with a slash, unless its route also does. The router would otherwise read an
 * empty parameter.
 */
export function refuseTrailingSlashes(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    const [path = ''] = request.url.split(/[?#]/);
    const { url = '' } = request.routeOptions;
    if (path.endsWith('/') && !url.endsWith('/') && url !== DASHBOARD) throw new ApiError('ROUTE_NOT_FOUND');
  });
}
