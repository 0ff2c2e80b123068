import type { FastifyInstance } from 'fastify';

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'Content-Type, X-API-Key, X-Signature, X-Timestamp, X-Nonce, Authorization',
  'access-control-max-age': '600',
} as const;
const EXPOSED =
  'ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, RateLimit, RateLimit-Policy, Idempotency-Mismatch';

/**
 * Allows scripts of other origins to call the routes of this scope (Fetch standard, "CORS
 * protocol"). A preflight has no API key, so that the site is unknown and every origin passes. The
 * actual request is refused unless the site allows the origin; the page can read the code of this
 * error, which says nothing about the site. Cookies are never used.
 */
export function allowCrossOrigin(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, reply, done) => {
    reply.header('vary', 'Origin');
    const { origin } = request.headers;
    if (origin !== undefined) {
      reply.header('access-control-allow-origin', origin);
      reply.header('access-control-expose-headers', EXPOSED);
    }
    done();
  });
  scope.options('/*', (_request, reply) => {
    reply.code(204).headers(PREFLIGHT).send();
  });
}
