import type { FastifyInstance } from 'fastify';
import { SINGLE_BODY_BYTES } from '../../../schemas/api/consent-limits.js';
import { admitSingle } from './post-consents-handlers.js';
import { type PostRouteDeps, signed } from './post-deps.js';

/** POST /tool/v1/consents: records one consent from a browser or a mobile app. */
export function registerPostConsentsRoute(app: FastifyInstance, deps: PostRouteDeps): void {
  app.post(
    '/consents',
    { onRequest: signed(deps.guards.write, deps.clock), bodyLimit: SINGLE_BODY_BYTES },
    admitSingle(deps),
  );
}
