import { ApiError } from '../../../schemas/api/error-codes.js';
import { statedOrigin } from '../../../schemas/api/stated-origin.js';
import type { VerifiedRecord } from '../../../schemas/api/verify.js';
import { parseIdentifier } from '../../evidence/verification/identifier.js';
import type { Verification, Verifier } from '../../evidence/verification/verifier.js';
import { sendError } from '../server/error-response.js';
import { verifyConsent } from './operations/reading.js';
import { reads, type ToolRoute } from './route.js';

/**
 * Checks the integrity of a record of the caller's tenant. A record of another tenant is answered
 * like one that does not exist.
 */
export function verifyRoutes(verifier: Verifier): readonly ToolRoute[] {
  return [
    reads(verifyConsent, async ({ caller, params, reply }) => {
      const identifier = parseIdentifier(params.id);
      const found = identifier === null ? null : await verifier.verify(identifier, caller.site.tenantId);
      if (found === null) return sendError(reply, new ApiError('CONSENT_NOT_FOUND'), { valid: false });
      return { valid: found.valid, data: verifiedRecord(found) };
    }),
  ];
}

/** The part of the response that keyed, public and panel verification share. */
export function verifiedRecord(found: Verification): VerifiedRecord {
  return {
    consent_type: found.record?.consent_type ?? null,
    decision: found.record?.decision ?? null,
    proof_hash: found.proofHash,
    hash_version: found.record?.hash_version ?? null,
    hash_valid: found.hashValid,
    merkle_valid: found.merkleValid,
    is_anonymized: found.isAnonymized,
    is_tsa_stamped: found.timestamp !== null,
    created_at: found.record?.created_at ?? null,
    ...statedOrigin(found.record),
  };
}
