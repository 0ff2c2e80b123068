import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONSENT_LIMITS } from '../../../schemas/api/consent-limits.js';
import type { BatchItemResult, ConsentBatchResponse, ConsentResponse } from '../../../schemas/api/consents.js';
import { ERROR_CODES } from '../../../schemas/api/error-codes.js';
import { parseConsents } from '../../pipeline/admission/parse-consents.js';
import type { Connection } from '../../pipeline/admission/prepare-consent.js';
import type { AdmissionResult, ConsentResult } from '../../pipeline/admission/results.js';
import { callerOf } from '../server/caller.js';
import { parseJsonBody } from '../server/json-body.js';
import { type PostRouteDeps, signedRequest } from './post-deps.js';

const ACCEPTED = 202;

/** Handles a single consent, of either channel. */
export function admitSingle(deps: PostRouteDeps) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const result = await admit(deps, request, reply, 'single');
    const [consent] = result.consents;
    if (consent?.status !== 'accepted') throw new Error('a single consent was neither accepted nor refused');
    const answer: ConsentResponse = {
      message: consent.duplicate ? 'Consent was accepted before.' : 'Consent accepted.',
      data: acceptance(consent),
    };
    return reply.code(ACCEPTED).send(answer);
  };
}

/** Handles a batch, of either channel. */
export function admitBatch(deps: PostRouteDeps) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { consents } = await admit(deps, request, reply, 'batch');
    const results = consents.map(batchItem);
    const accepted = results.filter(({ status }) => status === 'accepted').length;
    const answer: ConsentBatchResponse = {
      message: 'Batch processed; see the result of each item.',
      data: { accepted, rejected: results.length - accepted, results },
    };
    return reply.code(ACCEPTED).send(answer);
  };
}

async function admit(
  deps: PostRouteDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  shape: 'single' | 'batch',
): Promise<AdmissionResult> {
  const signed = signedRequest(request, deps);
  const { channel } = callerOf(request);
  const result = await deps.admission.admit({ ...signed, shape, connection: connectionOf(request) }, () =>
    parseConsents(parseJsonBody(request.rawBody), shape, channel),
  );
  if (result.isMismatch) reply.header('idempotency-mismatch', 'true');
  return result;
}

function connectionOf(request: FastifyRequest): Connection {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(request.ip);
  return {
    ipAddress: mapped?.[1] ?? request.ip,
    userAgent: request.headers['user-agent']?.slice(0, CONSENT_LIMITS.userAgent) ?? null,
  };
}

function acceptance({ consentToken, proofHash, createdAt, duplicate }: Extract<ConsentResult, { status: 'accepted' }>) {
  return { consent_token: consentToken, proof_hash: proofHash, created_at: createdAt, duplicate };
}

function batchItem(result: ConsentResult, index: number): BatchItemResult {
  if (result.status === 'accepted') return { index, status: 'accepted', ...acceptance(result) };
  const { message, code } = result.error;
  return { index, status: 'rejected', error: message, error_code: code, code: ERROR_CODES[code].status };
}
