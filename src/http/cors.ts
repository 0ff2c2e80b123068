import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

const REQUEST_HEADERS = ['Content-Type', 'X-API-Key', 'X-Signature', 'X-Timestamp', 'X-Nonce'];
const RESPONSE_HEADERS = [
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'RateLimit',
  'RateLimit-Policy',
  'Idempotency-Mismatch',
];
const PREFLIGHT_SECONDS = 600;

/**
 * Lets scripts of other origins call the routes of this scope. A preflight carries no API key, so it cannot be judged by a site: every origin
 * passes it, and the request that follows is refused (ORIGIN_NOT_ALLOWED) where the site's list does not hold its origin. No cookie is ever used.
 */
export async function allowCrossOrigin(scope: FastifyInstance): Promise<void> {
  await scope.register(cors, {
    origin: true,
    methods: ['GET', 'POST'],
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: RESPONSE_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    strictPreflight: false,
  });
}
