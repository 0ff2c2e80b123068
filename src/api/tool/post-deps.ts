import type { FastifyRequest } from 'fastify';
import type { Admission } from '../../pipeline/admission/admission.js';
import type { SignedRequest } from '../../pipeline/admission/request.js';
import { checkSignature, checkSignatureHeaders } from '../guards/signature.js';
import type { Guard, ToolGuards } from '../guards/tool-guard.js';
import { callerOf } from '../server/caller.js';

/** What the POST routes of the Tool API are made of. */
export interface PostRouteDeps {
  readonly admission: Admission;
  readonly guards: Pick<ToolGuards, 'write' | 's2s' | 'authorize'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * A guard, and after it what the signature's headers show by themselves: who only has a key, which browsers show everybody, does not make us read megabytes.
 * @param clock Unix milliseconds
 */
export function signed(guard: Guard, clock: () => number): Guard {
  return async (request, reply) => {
    await guard(request, reply);
    checkSignatureHeaders(request, clock());
  };
}

/** Checks the signature. @throws ApiError; see `checkSignature` */
export function signedRequest(request: FastifyRequest, deps: PostRouteDeps): SignedRequest {
  return {
    nonce: checkSignature(request, deps.clock()),
    caller: callerOf(request),
    authorize: (site) => deps.guards.authorize(site, request),
  };
}
