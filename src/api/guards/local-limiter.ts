import type { FastifyInstance } from 'fastify';
import { refuseExcess } from './rate-limit.js';

const WINDOW_SECONDS = 60;
/** Bound of the memory. Clients above it are not counted: what is limited here is cheap. */
const MAX_CLIENTS = 50_000;

/**
 * Limits the requests of one client to the routes of a scope. Each process counts by itself, in
 * memory, because a count in the database would cost more than the responses from memory that it
 * protects.
 * @param limit requests a minute of one client (`countedClient`)
 * @param now seconds of a monotonic clock
 */
export function limitLocally(scope: FastifyInstance, limit: number, now: () => number): void {
  const used = new Map<string, number>();
  let window = 0;
  scope.addHook('onRequest', (request, _reply, done) => {
    const seconds = now();
    const current = Math.floor(seconds / WINDOW_SECONDS);
    if (current !== window) {
      window = current;
      used.clear();
    }
    const before = used.get(request.countedClient) ?? 0;
    if (before > 0 || used.size < MAX_CLIENTS) used.set(request.countedClient, before + 1);
    const resetSeconds = WINDOW_SECONDS * (current + 1) - seconds;
    refuseExcess({ allowed: before < limit, limit, remaining: 0, resetSeconds }, 'RATE_LIMIT_EXCEEDED');
    done();
  });
}
