import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../../../schemas/api/error-codes.js';
import type { Admission, SignedRequest } from '../../../admission/admission.js';
import { callerOf } from '../../caller.js';
import { type AddressCheck, isOriginAllowed } from '../../guards/allow-lists.js';
import type { Guard } from '../../guards/tool-guard.js';
import { checkSignature } from '../../signature.js';

/** What the POST routes of the Tool API are made of. */
export interface PostRouteDeps {
  readonly admission: Admission;
  readonly guards: { readonly write: Guard; readonly s2s: Guard };
  readonly isAddressAllowed: AddressCheck;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Checks the signature. @throws ApiError; see `checkSignature` */
export function signedRequest(request: FastifyRequest, deps: PostRouteDeps): SignedRequest {
  return {
    nonce: checkSignature(request, deps.clock()),
    caller: callerOf(request),
    authorize: (site) => {
      if (!site.isVerified) throw new ApiError('SITE_NOT_VERIFIED');
      if (!deps.isAddressAllowed(site.allowedIps, request.ip)) throw new ApiError('IP_NOT_ALLOWED');
      const { origin } = request.headers;
      if (origin !== undefined && !isOriginAllowed(site.allowedOrigins, origin))
        throw new ApiError('ORIGIN_NOT_ALLOWED');
    },
  };
}
