import type { FastifyRequest } from 'fastify';
import { CONSENT_LIMITS } from '../../../schemas/api/consent-limits.js';
import type { BatchItemResult, ConsentBatchResponse, ConsentResponse } from '../../../schemas/api/consents.js';
import { ERROR_CODES } from '../../../schemas/api/error-codes.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import { parseConsents } from '../../pipeline/admission/parse-consents.js';
import type { Connection } from '../../pipeline/admission/prepare-consent.js';
import type { AdmissionResult, ConsentResult } from '../../pipeline/admission/results.js';
import { unmapped } from '../../platform/net/ip-bytes.js';
import { parseJsonBody } from '../server/json-body.js';
import {
  mintApprovalToken,
  recordConsent,
  recordConsentBatch,
  recordConsentBatchS2s,
  recordConsentS2s,
} from './operations/recording.js';
import { type SignedCall, type ToolRoute, writes } from './route.js';

/** Records consents of browsers, apps and backends, and mints approval tokens. */
export function recordingRoutes(admission: Pick<Admission, 'admit' | 'mint'>): readonly ToolRoute[] {
  return [
    writes(recordConsent, (call) => recordOne(admission, call)),
    writes(recordConsentBatch, (call) => recordBatch(admission, call)),
    writes(recordConsentS2s, (call) => recordOne(admission, call)),
    writes(recordConsentBatchS2s, (call) => recordBatch(admission, call)),
    writes(mintApprovalToken, async ({ signed, body }) => ({
      message: 'Approval token minted.',
      data: await admission.mint(signed, body),
    })),
  ];
}

/** Of a call, what recording consents needs. */
type RecordingCall = Pick<SignedCall<unknown, unknown, unknown>, 'signed' | 'caller' | 'request' | 'reply'>;

async function recordOne(admission: Pick<Admission, 'admit'>, call: RecordingCall): Promise<ConsentResponse> {
  const { consents } = await admit(admission, call, 'single');
  const [consent] = consents;
  if (consent?.status !== 'accepted') throw new Error('a single consent was neither accepted nor refused');
  return {
    message: consent.duplicate ? 'Consent was accepted before.' : 'Consent accepted.',
    data: acceptance(consent),
  };
}

async function recordBatch(admission: Pick<Admission, 'admit'>, call: RecordingCall): Promise<ConsentBatchResponse> {
  const { consents } = await admit(admission, call, 'batch');
  const results = consents.map(batchItem);
  const accepted = results.filter(({ status }) => status === 'accepted').length;
  return {
    message: 'Batch processed; see the result of each item.',
    data: { accepted, rejected: results.length - accepted, results },
  };
}

/** Consents have errors of their own beside those of their schema, so admission parses the body. */
async function admit(
  admission: Pick<Admission, 'admit'>,
  { signed, caller, request, reply }: RecordingCall,
  shape: 'single' | 'batch',
): Promise<AdmissionResult> {
  const result = await admission.admit({ ...signed, shape, connection: connectionOf(request) }, () =>
    parseConsents(parseJsonBody(request.rawBody), shape, caller.channel),
  );
  if (result.isMismatch) reply.header('idempotency-mismatch', 'true');
  return result;
}

function connectionOf(request: FastifyRequest): Connection {
  return {
    ipAddress: unmapped(request.ip),
    userAgent: request.headers['user-agent']?.slice(0, CONSENT_LIMITS.userAgent) ?? null,
  };
}

function acceptance({
  consentToken,
  proofHash,
  createdAt,
  duplicate,
  promise,
}: Extract<ConsentResult, { status: 'accepted' }>) {
  return { consent_token: consentToken, proof_hash: proofHash, created_at: createdAt, duplicate, promise };
}

function batchItem(result: ConsentResult, index: number): BatchItemResult {
  if (result.status === 'accepted') return { index, status: 'accepted', ...acceptance(result) };
  const { message, code } = result.error;
  return { index, status: 'rejected', error: message, error_code: code, code: ERROR_CODES[code].status };
}
