import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';

/** Header lines that a request may have. Proxies and browsers send some tens. */
export const MAX_HEADER_LINES = 200;

/**
 * Refuses a request with more header lines than `MAX_HEADER_LINES`. Node drops the lines beyond its limit and
 * tells no one: a client could hide the line `X-Forwarded-For` of the proxy, which stands last, and would
 * then have the address of the proxy in the evidence and in all limits.
 *
 * Also refuses two `Host` lines, of which Node and a proxy may each take another one (RFC 9112 §3.2), and a
 * request line without a version, which is not HTTP/1 (RFC 9112 §3).
 */
export function boundHeaders(app: FastifyInstance): void {
  // One more, so that a request with exactly the permitted lines differs from one that was cut.
  app.server.maxHeadersCount = MAX_HEADER_LINES + 1;
  app.addHook('onRequest', (request, _reply, done) => {
    const { rawHeaders, httpVersionMajor } = request.raw;
    // Names and values take turns in the list.
    if (rawHeaders.length > 2 * MAX_HEADER_LINES) return done(new ApiError('HEADERS_TOO_LARGE'));
    const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host');
    if (hosts.length > 1 || httpVersionMajor !== 1) return done(new ApiError('BAD_REQUEST'));
    done();
  });
}
