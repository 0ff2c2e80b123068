import { Transform } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { BodyBudget, type BodyShare } from './body-budget.js';
import './caller.js';

/** Bodies up to this size are not counted, because the number of connections limits them. */
const SMALL_BODY_BYTES = 256 * 1024;
const BODYLESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const RETRY_AFTER_SECONDS = 5;

/**
 * Limits the total memory of request bodies. Submission batches may be large, and a browser's API key is public.
 * Without a limit, a few clients could fill the memory of the process; a limit on announced sizes would let them lock
 * out everyone else. Small bodies are not counted. If a body stalls, the time limit of the request ends it.
 */
export function boundBodies(app: FastifyInstance, budget = new BodyBudget()): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const announced = Number(request.headers['content-length']);
    if (announced <= SMALL_BODY_BYTES || BODYLESS.has(request.method)) return done();
    const { bodyLimit } = request.routeOptions;
    // A body above the route's limit will be refused before it is read.
    if (bodyLimit <= SMALL_BODY_BYTES || announced > bodyLimit) return done();
    const share = budget.begin(ownerOf(request), Number.isNaN(announced) ? 0 : announced);
    if (share === null) return done(noRoom());
    const body = countInto(share);
    payload.once('error', (error) => body.destroy(error));
    reply.raw.once('close', () => {
      share.release();
      // The rest of a refused body is discarded, so that the connection remains usable.
      payload.unpipe(body);
      payload.resume();
      body.destroy();
    });
    done(null, payload.pipe(body));
  });
}

/**
 * Passes a body on and counts it as it arrives. The stream fails if the budget is exhausted. The source is not
 * destroyed, because the response uses the same connection.
 */
function countInto(share: BodyShare): Transform {
  const body = new Transform({
    transform: (chunk: Buffer, _encoding, done) => (share.take(chunk.length) ? done(null, chunk) : done(noRoom())),
  });
  // The reader may be gone by then. Without a listener, the error would end the process.
  return body.on('error', () => undefined);
}

function noRoom(): ApiError {
  const message =
    'Too many large requests are under way. Retry after the time in Retry-After, or send smaller batches.';
  return new ApiError('ADMISSION_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/**
 * Returns the owner of a request's body. Browser keys are public, so their requests must not share a quarter with the
 * tenant's backends.
 */
function ownerOf({ caller, panelUser }: FastifyRequest): string {
  if (caller !== null) return `${caller.channel} ${caller.site.tenantId}`;
  return panelUser === null ? 'anyone' : `panel ${panelUser.tenantId}`;
}
