import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { VerifiedRecord, VerifyResponse } from '../../../schemas/api/verify.js';
import { parseIdentifier } from '../../evidence/verification/identifier.js';
import type { Verification, Verifier } from '../../evidence/verification/verifier.js';
import type { ToolGuards } from '../guards/tool-guard.js';
import { callerOf } from '../server/caller.js';
import { sendError } from '../server/error-response.js';

const Params = z.object({ id: z.string() });

/** GET /tool/v1/consents/verify/{id}: a record of the caller's tenant. Another tenant's is as unknown as one that does not exist. */
export function getVerify(tool: FastifyInstance, guards: ToolGuards, verifier: Verifier): void {
  tool.get('/consents/verify/:id', { onRequest: guards.read }, async (request, reply) => {
    const identifier = parseIdentifier(Params.parse(request.params).id);
    const { tenantId } = callerOf(request).site;
    const found = identifier === null ? null : await verifier.verify(identifier, tenantId);
    if (found === null) return sendError(reply, new ApiError('CONSENT_NOT_FOUND'), { valid: false });
    const body: VerifyResponse = { valid: found.valid, data: verifiedRecord(found) };
    return body;
  });
}

/** What keyed and public verify both say. */
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
  };
}
