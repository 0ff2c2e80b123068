import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../schemas/api/error-codes.js';

/** Bodies up to this size are not counted: the number of connections bounds them. */
const SMALL_BODY_BYTES = 256 * 1024;
/** Bytes of larger bodies that one process holds at a time: a batch at its largest, and some beside it. */
export const BODY_BUDGET_BYTES = 256 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 5;

/**
 * Bounds the memory that bodies take together. Batches may be large, and a browser's API key is public: without a bound, a few callers who need
 * not even sign could fill the memory of the process. Counted before a body is read, by its Content-Length; by the route's limit where it has none.
 */
export function boundBodies(app: FastifyInstance, budgetBytes: number = BODY_BUDGET_BYTES): void {
  let held = 0;
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const bytes = declaredBytes(request.headers['content-length'], request.routeOptions.bodyLimit);
    if (bytes <= SMALL_BODY_BYTES) return done();
    if (held + bytes > budgetBytes) {
      const message = 'Too many large requests are under way. Retry after Retry-After, or send smaller batches.';
      return done(new ApiError('ADMISSION_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS }));
    }
    held += bytes;
    reply.raw.once('close', () => {
      held -= bytes;
    });
    done();
  });
}

/** A declared length above the route's limit is refused before anything is read, so it is never held. */
function declaredBytes(contentLength: string | undefined, limit: number): number {
  const declared = contentLength === undefined ? limit : Number(contentLength);
  return Number.isFinite(declared) ? Math.min(declared, limit) : limit;
}
