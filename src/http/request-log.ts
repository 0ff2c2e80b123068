import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/**
 * One line for each request: id, method, route *pattern*, status, milliseconds. Nothing that a caller chose, and nothing that names a person:
 * no path, query, header, body or address. Failures of ours are errors, refusals `info`, the rest `debug`: at thousands a second, lines cost.
 */
export function logRequests(app: FastifyInstance, log: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply;
    const level = statusCode >= 500 ? 'error' : statusCode >= 400 ? 'info' : 'debug';
    if (log.isLevelEnabled(level)) {
      log[level](
        {
          request_id: request.id,
          method: request.method,
          route: request.routeOptions.url ?? null,
          status: statusCode,
          ms: Math.round(reply.elapsedTime * 10) / 10,
        },
        'request',
      );
    }
    done();
  });
}

/** What is logged of a failure. Not the error itself: those of the database carry the values of rows. */
export function failureOf(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { reason: String(error) };
  const code = 'code' in error ? error.code : undefined;
  return { type: error.name, reason: error.message, code, stack: error.stack };
}
