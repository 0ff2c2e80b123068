import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/**
 * One line for each request: id, method, route *pattern*, status, milliseconds. Nothing that a
 * caller chose, and nothing that names a person: no path, query, header, body or address. Failures
 * of ours are errors, refusals `info`, the rest `debug`: at thousands a second, lines cost.
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

/**
 * What is logged of a failure. Not the error itself: those of the database carry the values of
 * rows; and not the message of a data exception (SQLSTATE class 22), which quotes the value that
 * was refused.
 */
export function failureOf(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { reason: String(error) };
  const code = 'code' in error ? error.code : undefined;
  const { name: type, message, stack = '' } = error;
  if (typeof code !== 'string' || !/^22[0-9A-Z]{3}$/.test(code)) return { type, reason: message, code, stack };
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return { type, reason: 'the database refused a value', code, stack: frames.join('\n') };
}
