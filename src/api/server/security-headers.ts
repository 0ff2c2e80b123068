import type { FastifyInstance } from 'fastify';

/**
 * Nothing here is a page: a browser that is led to an answer may do nothing with it, and nobody may
 * keep it unless its route says so. Other origins' scripts may read answers (CORS decides which). A
 * constant set: middleware that computes it for each request cost as much as answering it.
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

/** Sets the security headers on every answer. */
export function setSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(HEADERS);
    done();
  });
}
