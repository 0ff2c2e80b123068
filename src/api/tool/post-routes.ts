import type { FastifyInstance } from 'fastify';
import type { Admission } from '../../pipeline/admission/admission.js';
import type { ToolGuards } from '../guards/tool-guard.js';
import { registerPostConsentsRoute } from './post-consents.js';
import { registerPostConsentsBatchRoute } from './post-consents-batch.js';
import { registerPostS2sApprovalTokensRoute } from './post-s2s-approval-tokens.js';
import { registerPostS2sConsentsRoute } from './post-s2s-consents.js';
import { registerPostS2sConsentsBatchRoute } from './post-s2s-consents-batch.js';

/**
 * The routes that record consents and mint approval tokens.
 * @param clock Unix milliseconds
 * @returns registers them on a scope whose prefix is /tool/v1
 */
export function recordingRoutes(admission: Admission, clock: () => number) {
  return (tool: FastifyInstance, guards: ToolGuards): void => {
    const deps = { admission, guards, clock };
    registerPostConsentsRoute(tool, deps);
    registerPostConsentsBatchRoute(tool, deps);
    registerPostS2sConsentsRoute(tool, deps);
    registerPostS2sConsentsBatchRoute(tool, deps);
    registerPostS2sApprovalTokensRoute(tool, deps);
  };
}
