import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/**
 * One line for each request: id, method, route *pattern*, status, milliseconds. Nothing that a caller chose, and nothing that names a person:
 * no path, query, header, body or address.
 */
export function logRequests(app: FastifyInstance, log: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    if (reply.statusCode >= 500 || log.isLevelEnabled('info')) {
      const line = {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      };
      if (reply.statusCode >= 500) log.error(line, 'request failed');
      else log.info(line, 'request');
    }
    done();
  });
}
