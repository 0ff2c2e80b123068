import type { FastifyInstance } from 'fastify';
import { BATCH_BODY_BYTES } from '../../../schemas/api/consent-limits.js';
import { admitBatch } from './post-consents-handlers.js';
import { type PostRouteDeps, signed } from './post-deps.js';

/** POST /tool/v1/s2s/consents/batch: records 1 to 100 consents from a backend. */
export function registerPostS2sConsentsBatchRoute(app: FastifyInstance, deps: PostRouteDeps): void {
  app.post(
    '/s2s/consents/batch',
    { onRequest: signed(deps.guards.s2s, deps.clock), bodyLimit: BATCH_BODY_BYTES },
    admitBatch(deps),
  );
}
