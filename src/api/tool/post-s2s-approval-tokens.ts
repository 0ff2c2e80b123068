import type { FastifyInstance } from 'fastify';
import { ApprovalTokenRequest, type ApprovalTokenResponse } from '../../../schemas/api/approval-tokens.js';
import { APPROVAL_TOKEN_BODY_BYTES } from '../../../schemas/api/consent-limits.js';
import { parseJsonBody, validate } from '../server/json-body.js';
import { type PostRouteDeps, signed, signedRequest } from './post-deps.js';

/** POST /tool/v1/s2s/approval-tokens: mints a one-time approval token. */
export function registerPostS2sApprovalTokensRoute(app: FastifyInstance, deps: PostRouteDeps): void {
  const options = { onRequest: signed(deps.guards.s2s, deps.clock), bodyLimit: APPROVAL_TOKEN_BODY_BYTES };
  app.post('/s2s/approval-tokens', options, async (request, reply) => {
    const signed = signedRequest(request, deps);
    const data = await deps.admission.mint(signed, () =>
      validate(ApprovalTokenRequest, parseJsonBody(request.rawBody)),
    );
    const answer: ApprovalTokenResponse = { message: 'Approval token minted.', data };
    return reply.code(201).send(answer);
  });
}
