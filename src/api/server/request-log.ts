import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { ErrorCode } from '../../../schemas/api/error-codes.js';

/** The refusal of a process that is at its limit. It does not count as a failure. */
export const OVERLOADED: ErrorCode = 'QUEUE_OVERLOADED';
const COUNT_EVERY_MS = 5_000;

/**
 * Logs one line for each request: id, method, route *pattern*, status, error code, milliseconds. It logs no value from
 * the client and no personal data: no path, query, header, body or address. Failures of the service are logged as
 * `error`, refusals as `info`, and the rest as `debug`, because thousands of lines a second are expensive. For the same
 * reason, one line per few seconds counts the refusals of an overloaded process.
 */
export function logRequests(app: FastifyInstance, log: Logger): void {
  let overloaded = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply;
    const isOverload = reply.errorCode === OVERLOADED;
    if (isOverload) {
      overloaded += 1;
      if (performance.now() - countedAt >= COUNT_EVERY_MS) {
        log.warn({ requests: overloaded, code: OVERLOADED }, 'requests were refused');
        overloaded = 0;
        countedAt = performance.now();
      }
    }
    const level = statusCode < 400 || isOverload ? 'debug' : statusCode < 500 ? 'info' : 'error';
    if (log.isLevelEnabled(level)) {
      log[level](
        {
          request_id: request.id,
          method: request.method,
          route: request.routeOptions.url ?? null,
          status: statusCode,
          ...(reply.errorCode !== undefined && { code: reply.errorCode }),
          ms: Math.round(reply.elapsedTime * 10) / 10,
        },
        'request',
      );
    }
    done();
  });
}

/**
 * Returns the part of an error that may be logged. The error itself is not logged, because database errors contain
 * values of rows. The message of a data exception (SQLSTATE class 22) is omitted, because it quotes the refused value.
 */
export function failureOf(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { reason: String(error) };
  const code = 'code' in error ? error.code : undefined;
  const { name: type, message, stack = '' } = error;
  if (typeof code !== 'string' || !/^22[0-9A-Z]{3}$/.test(code)) return { type, reason: message, code, stack };
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return { type, reason: 'the database refused a value', code, stack: frames.join('\n') };
}
