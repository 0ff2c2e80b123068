import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Smaller responses, in bytes, are sent at once. */
const LARGE_BYTES = 64 * 1024;
const BYTES_PER_MS = 100_000;

/**
 * Sends the large responses of a scope one after the other, at most 100 MB a second. Handing them to the kernel
 * occupies the main thread. Clients from many networks, which limits per client do not catch, could otherwise keep it
 * busy by requesting texts without compression. Nothing is refused, because only connections wait, and their number is
 * limited.
 * @param now milliseconds of a monotonic clock
 */
export function paceLargeTexts(scope: FastifyInstance, now: () => number): void {
  let freeAt = 0;
  scope.addHook('onSend', async (_request, _reply, payload) => {
    if (!Buffer.isBuffer(payload) || payload.length < LARGE_BYTES) return payload;
    const startsAt = Math.max(now(), freeAt);
    freeAt = startsAt + payload.length / BYTES_PER_MS;
    const wait = startsAt - now();
    if (wait > 0) await sleep(wait);
    return payload;
  });
}
