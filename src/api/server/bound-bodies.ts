import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BodyBudget } from './body-budget.js';
import { LEAST_RATE, type LeastRate, MeteredBody, noRoom } from './metered-body.js';
import './caller.js';

/** Bodies up to this size are not counted: the number of connections bounds them. */
const SMALL_BODY_BYTES = 256 * 1024;
const BODYLESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Bounds the total memory of request bodies. Submission batches may be large, and a browser's API
 * key is public. Without a bound, a few clients could fill the memory of the process. A bound on
 * announced sizes would let them lock out all others. Small bodies are not counted.
 */
export function boundBodies(app: FastifyInstance, budget = new BodyBudget(), leastRate: LeastRate = LEAST_RATE): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const announced = Number(request.headers['content-length']);
    if (announced <= SMALL_BODY_BYTES || BODYLESS.has(request.method)) return done();
    const { bodyLimit } = request.routeOptions;
    // A body above the route's limit is refused before it is read.
    if (bodyLimit <= SMALL_BODY_BYTES || announced > bodyLimit) return done();
    const share = budget.begin(ownerOf(request), Number.isNaN(announced) ? 0 : announced);
    if (share === null) return done(noRoom());
    const body = new MeteredBody(share, leastRate);
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
 * Browser keys are public, so that their requests must not share a quarter with the tenant's
 * backends.
 */
function ownerOf({ caller, panelUser }: FastifyRequest): string {
  if (caller !== null) return `${caller.channel} ${caller.site.tenantId}`;
  return panelUser === null ? 'anyone' : `panel ${panelUser.tenantId}`;
}
