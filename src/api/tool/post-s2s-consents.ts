import type { FastifyInstance } from 'fastify';
import { SINGLE_BODY_BYTES } from '../../../schemas/api/consent-limits.js';
import { admitSingle } from './post-consents-handlers.js';
import { type PostRouteDeps, signed } from './post-deps.js';

/** POST /tool/v1/s2s/consents: records one consent from a backend. */
export function registerPostS2sConsentsRoute(app: FastifyInstance, deps: PostRouteDeps): void {
  app.post(
    '/s2s/consents',
    { onRequest: signed(deps.guards.s2s, deps.clock), bodyLimit: SINGLE_BODY_BYTES },
    admitSingle(deps),
  );
}
