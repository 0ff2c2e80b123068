import type { FastifyRequest } from 'fastify';
import type { ApprovalTokenRequest } from '../../../schemas/api/approval-tokens.js';
import { CONSENT_LIMITS, DEFAULT_BATCH_BODY_BYTES } from '../../../schemas/api/consent-limits.js';
import type { BatchItemResult, ConsentBatchResponse, ConsentResponse } from '../../../schemas/api/consents.js';
import { ERROR_CODES } from '../../../schemas/api/error-codes.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import { type ParsedConsent, parseConsents } from '../../pipeline/admission/parse-consents.js';
import type { Connection } from '../../pipeline/admission/prepare-consent.js';
import type { AdmissionResult, ConsentResult } from '../../pipeline/admission/results.js';
import type { TestAdmission } from '../../pipeline/admission/test-admission.js';
import type { LiveHosts } from '../../tenancy/domains/live-hosts.js';
import { FairTurns } from '../guards/fair-turns.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import { takeConsents } from '../guards/tool-guard.js';
import { goneClient } from '../server/gone-client.js';
import { parseJsonBody } from '../server/json-body.js';
import {
  mintApprovalToken,
  recordConsent,
  recordConsentBatch,
  recordConsentBatchS2s,
  recordConsentS2s,
} from './operations/recording.js';
import { type SignedCall, type ToolRoute, writes } from './route.js';

export interface RecordingOptions {
  readonly admission: Pick<Admission, 'admit' | 'mint'>;
  /** Absent: test keys are refused. */
  readonly testAdmission?: TestAdmission;
  readonly rateLimiter: RateLimiter;
  /** Learns the hosts of pages that record with live keys; absent: nobody does. */
  readonly liveHosts?: Pick<LiveHosts, 'note'>;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Largest body of a submission batch, in bytes. */
  readonly batchBodyBytes?: number | undefined;
}

/** Bodies above this size, in bytes, are processed in turns. */
const LARGE_BODY_BYTES = 256 * 1024;
/** While one waits for the database, another one is parsed. */
const LARGE_BATCHES_AT_A_TIME = 2;
/**
 * Pause before the next batch of a tenant, as a multiple of the time of the last one. After the commit,
 * its records pass through all later stages, which use the disk and the processor of other requests.
 */
const PAUSE = 4;

interface Recorder {
  readonly admission: Pick<Admission, 'admit'>;
  readonly rateLimiter: RateLimiter;
  readonly turns: FairTurns;
  readonly liveHosts?: Pick<LiveHosts, 'note'> | undefined;
}

/** Records consents of browsers, apps and backends, and mints approval tokens. */
export function recordingRoutes({
  admission,
  testAdmission,
  liveHosts,
  rateLimiter,
  now,
  batchBodyBytes,
}: RecordingOptions): readonly ToolRoute[] {
  const turns = new FairTurns({ slots: LARGE_BATCHES_AT_A_TIME, now, pause: PAUSE });
  const shared = { rateLimiter, turns };
  const live: Recorder = { ...shared, admission, liveHosts };
  const test = testAdmission && { ...shared, admission: testAdmission };
  const bodyLimit = batchBodyBytes ?? DEFAULT_BATCH_BODY_BYTES;
  const one = (recorder: Recorder) => (call: RecordingCall) => recordOne(recorder, call);
  const batch = (recorder: Recorder) => (call: RecordingCall) => recordBatch(recorder, call);
  const mint =
    (minter: Pick<Admission, 'mint'>) =>
    async ({ signed, body }: SignedCall<unknown, unknown, ApprovalTokenRequest>) => ({
      message: 'Approval token minted.',
      data: await minter.mint(signed, body),
    });
  return [
    writes(recordConsent, one(live), test && one(test)),
    writes({ ...recordConsentBatch, bodyLimit }, batch(live), test && batch(test)),
    writes(recordConsentS2s, one(live), test && one(test)),
    writes({ ...recordConsentBatchS2s, bodyLimit }, batch(live), test && batch(test)),
    writes(mintApprovalToken, mint(admission), testAdmission && mint(testAdmission)),
  ];
}

/** The members of a call that recording consents needs. */
type RecordingCall = Pick<SignedCall<unknown, unknown, unknown>, 'signed' | 'caller' | 'request' | 'reply'>;

async function recordOne(recorder: Recorder, call: RecordingCall): Promise<ConsentResponse> {
  const { consents } = await admit(recorder, call, 'single');
  const [consent] = consents;
  if (consent?.status !== 'accepted') throw new Error('a single consent was neither accepted nor refused');
  return {
    message: consent.duplicate ? 'Consent was accepted before.' : 'Consent accepted.',
    data: acceptance(consent),
  };
}

async function recordBatch(recorder: Recorder, call: RecordingCall): Promise<ConsentBatchResponse> {
  const { consents } = await admit(recorder, call, 'batch');
  const results = consents.map(batchItem);
  const accepted = results.filter(({ status }) => status === 'accepted').length;
  return {
    message: 'Batch processed; see the result of each item.',
    data: { accepted, rejected: results.length - accepted, results },
  };
}

/** Consents have errors of their own beside those of their schema, so admission parses the body. */
async function admit(
  { admission, rateLimiter, turns, liveHosts }: Recorder,
  { signed, caller, request, reply }: RecordingCall,
  shape: 'single' | 'batch',
): Promise<AdmissionResult> {
  const asked = {
    ...signed,
    shape,
    connection: connectionOf(request),
    takeConsents: (consents: number) => takeConsents(rateLimiter, caller, request.countedClient, consents),
  };
  const { rawBody } = request;
  const consentsOf = (json: JsonValue): ParsedConsent[] => parseConsents(json, shape, caller.channel);
  const result =
    rawBody.length <= LARGE_BODY_BYTES
      ? await admission.admit(asked, () => consentsOf(parseJsonBody(rawBody)))
      : await turns.take(
          caller.site.tenantId,
          async (rest) => {
            const json = outcomeOf(() => parseJsonBody(rawBody));
            await rest();
            return admission.admit({ ...asked, rest }, () => consentsOf(json()));
          },
          goneClient(reply),
        );
  const { origin } = request.headers;
  if (origin !== undefined && result.consents.some(({ status }) => status === 'accepted'))
    liveHosts?.note(caller.site.siteId, origin);
  if (result.conflicts.length > 0) reply.header('idempotency-mismatch', 'true');
  return result;
}

/** @returns a function that returns the value of `make`, or throws its error */
function outcomeOf<T>(make: () => T): () => T {
  try {
    const value = make();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function connectionOf(request: FastifyRequest): Connection {
  return {
    ipAddress: request.clientAddress,
    userAgent: request.headers['user-agent']?.slice(0, CONSENT_LIMITS.userAgent) ?? null,
  };
}

function acceptance({
  consentToken,
  proofHash,
  createdAt,
  duplicate,
  promise,
  warnings,
}: Extract<ConsentResult, { status: 'accepted' }>) {
  return {
    consent_token: consentToken,
    proof_hash: proofHash,
    created_at: createdAt,
    duplicate,
    promise,
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  };
}

function batchItem(result: ConsentResult, index: number): BatchItemResult {
  if (result.status === 'accepted') return { index, status: 'accepted', ...acceptance(result) };
  const { message, code } = result.error;
  return { index, status: 'rejected', error: message, error_code: code, code: ERROR_CODES[code].status };
}
