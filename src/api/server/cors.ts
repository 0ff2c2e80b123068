import type { FastifyInstance } from 'fastify';

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'Content-Type, X-API-Key, X-Signature, X-Timestamp, X-Nonce, Authorization',
  'access-control-max-age': '600',
} as const;
const EXPOSED =
  'Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, RateLimit, RateLimit-Policy, Idempotency-Mismatch';

/**
 * Lets scripts of other origins call the routes of this scope (Fetch standard, "CORS protocol"). A
 * preflight carries no API key, so it cannot be judged by a site: every origin passes it, and the
 * request that follows is refused (ORIGIN_NOT_ALLOWED, unreadable) where the site's list does not
 * hold its origin. No cookie is ever used.
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
