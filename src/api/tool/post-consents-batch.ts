import type { FastifyInstance } from 'fastify';
import { BATCH_BODY_BYTES } from '../../../schemas/api/consent-limits.js';
import { admitBatch } from './post-consents-handlers.js';
import { type PostRouteDeps, signed } from './post-deps.js';

/** POST /tool/v1/consents/batch: records 1 to 100 consents from a browser or a mobile app. */
export function registerPostConsentsBatchRoute(app: FastifyInstance, deps: PostRouteDeps): void {
  app.post(
    '/consents/batch',
    { onRequest: signed(deps.guards.write, deps.clock), bodyLimit: BATCH_BODY_BYTES },
    admitBatch(deps),
  );
}
