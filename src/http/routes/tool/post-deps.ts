import type { FastifyRequest } from 'fastify';
import type { Admission, SignedRequest } from '../../../admission/admission.js';
import { callerOf } from '../../caller.js';
import type { ToolGuards } from '../../guards/tool-guard.js';
import { checkSignature } from '../../signature.js';

/** What the POST routes of the Tool API are made of. */
export interface PostRouteDeps {
  readonly admission: Admission;
  readonly guards: Pick<ToolGuards, 'write' | 's2s' | 'authorize'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Checks the signature. @throws ApiError; see `checkSignature` */
export function signedRequest(request: FastifyRequest, deps: PostRouteDeps): SignedRequest {
  return {
    nonce: checkSignature(request, deps.clock()),
    caller: callerOf(request),
    authorize: (site) => deps.guards.authorize(site, request),
  };
}
