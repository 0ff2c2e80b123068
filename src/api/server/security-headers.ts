import type { FastifyInstance } from 'fastify';

/**
 * No response is a page: a browser must not render it, and caches must not store it unless the
 * route permits it. Scripts of other origins may read responses (CORS decides which). The set is
 * constant, because middleware that computed it for each request cost as much as the response
 * itself.
 */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
} as const;

/** Sets the security headers on every response. */
export function setSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(HEADERS);
    done();
  });
}
