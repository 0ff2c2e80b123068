import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { statedOrigin } from '../../../schemas/api/stated-origin.js';
import { type VerifiedRecord, VerifyResponse } from '../../../schemas/api/verify.js';
import { eventIdOfTestToken } from '../../../schemas/events/consent-recorded.js';
import { findTestRecord, type TestRecord, type TestRecordOptions } from '../../evidence/records/test-records.js';
import { parseIdentifier } from '../../evidence/verification/stored-record.js';
import type { Verification, Verifier } from '../../evidence/verification/verifier.js';
import { sendError } from '../server/error-response.js';
import { EXAMPLE_VALUES, SHOWN_CHECK } from '../server/example-values.js';
import { routesWith } from '../server/route.js';

export interface VerifyDeps extends TestRecordOptions {
  readonly verifier: Verifier;
}

const route = routesWith<VerifyDeps>();

/**
 * Checks the integrity of a record of the caller's tenant. A record of another tenant is answered like one that does
 * not exist. A test record is never valid, because it is not evidence.
 */
export const VERIFY_OPERATIONS = [
  route({
    auth: 'tool',
    roles: null,
    id: 'verifyConsent',
    path: '/tool/v1/consents/verify/{id}',
    tag: 'Consents',
    summary: 'Check the integrity of one record',
    description: 'A record of another tenant returns the same response as one that does not exist.',
    params: z.object({
      id: z.string().describe('The UUID, the consent token (`ct_…`) or the proof hash of the record.'),
    }),
    invalidParams: 'CONSENT_NOT_FOUND',
    response: VerifyResponse,
    errors: ['CONSENT_NOT_FOUND'],
    example: { path: { id: EXAMPLE_VALUES.consentToken }, response: { valid: true, data: SHOWN_CHECK } },
    handle: async ({ caller, params, reply }, { verifier }) => {
      const identifier = parseIdentifier(params.id);
      const found = identifier === null ? null : await verifier.verify(identifier, caller.site.tenantId);
      if (found === null) return sendError(reply, new ApiError('CONSENT_NOT_FOUND'), { valid: false });
      return { valid: found.valid, data: verifiedRecord(found) };
    },
    handleTest: async ({ caller, params, reply }, deps) => {
      const identifier = parseIdentifier(params.id, eventIdOfTestToken);
      const found = identifier === null ? null : await findTestRecord(deps, caller.site, identifier);
      if (found === null) return sendError(reply, new ApiError('CONSENT_NOT_FOUND'), { valid: false });
      return { valid: false, reason: 'test' as const, data: verifiedTestRecord(found) };
    },
  }),
];

/** Checks the proof hash of a test record, which has no Merkle batch and no time stamp. */
function verifiedTestRecord({ record, proofHash, isProved, seed }: TestRecord): VerifiedRecord {
  return {
    consent_type: record.consent_type,
    decision: record.decision,
    proof_hash: proofHash,
    hash_version: record.hash_version,
    hash_valid: isProved,
    merkle_valid: null,
    is_anonymized: seed === null,
    is_tsa_stamped: false,
    created_at: record.created_at,
    ...statedOrigin(record),
  };
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
