import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';

/** Header lines that a request may have. Proxies and browsers send some tens. */
export const MAX_HEADER_LINES = 200;

/**
 * Refuses a request with more header lines than `MAX_HEADER_LINES`. Node drops the lines beyond its limit and
 * tells no one: a client could hide the line `X-Forwarded-For` of the proxy, which stands last, and would
 * then have the address of the proxy in the evidence and in all limits.
 */
export function boundHeaders(app: FastifyInstance): void {
  // One more, so that a request with exactly the permitted lines differs from one that was cut.
  app.server.maxHeadersCount = MAX_HEADER_LINES + 1;
  app.addHook('onRequest', (request, _reply, done) => {
    // Names and values take turns in the list.
    if (request.raw.rawHeaders.length > 2 * MAX_HEADER_LINES) return done(new ApiError('HEADERS_TOO_LARGE'));
    done();
  });
}
