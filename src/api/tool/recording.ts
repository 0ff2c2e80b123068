import type { FastifyRequest } from 'fastify';
import { ApprovalTokenRequest, ApprovalTokenResponse } from '../../../schemas/api/approval-tokens.js';
import {
  APPROVAL_TOKEN_BODY_BYTES,
  CONSENT_LIMITS,
  DEFAULT_BATCH_BODY_BYTES,
  SINGLE_BODY_BYTES,
} from '../../../schemas/api/consent-limits.js';
import {
  type BatchItemResult,
  BrowserConsentBatchRequest,
  BrowserConsentRequest,
  ConsentBatchResponse,
  ConsentResponse,
  S2sConsentBatchRequest,
  S2sConsentRequest,
} from '../../../schemas/api/consents.js';
import { ApiError, CONSENT_ERROR_CODES, ERROR_CODES } from '../../../schemas/api/error-codes.js';
import { PersonTokenRequest, PersonTokenResponse } from '../../../schemas/api/person-tokens.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import { type ParsedConsent, parseConsents } from '../../pipeline/admission/parse-consents.js';
import type { Connection } from '../../pipeline/admission/prepare-consent.js';
import type { AdmissionResult, ConsentResult } from '../../pipeline/admission/results.js';
import type { TestAdmission } from '../../pipeline/admission/test-admission.js';
import type { LiveHosts } from '../../tenancy/domains/live-hosts.js';
import { FairScheduler } from '../guards/fair-scheduler.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import { takeConsents } from '../guards/tool-guard.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';
import { goneClient } from '../server/gone-client.js';
import { parseJsonBody } from '../server/json-body.js';
import { BACKEND, type Operation } from '../server/operation.js';
import { routesWith, type SignedCall } from '../server/route.js';

export interface RecordingDeps {
  readonly admission: Pick<Admission, 'admit' | 'mint' | 'mintForPerson'>;
  /** If absent, test keys are refused. */
  readonly testAdmission?: TestAdmission;
  readonly rateLimiter: RateLimiter;
  /** Is told the hosts of pages that record with live keys. If absent, the hosts are not noted. */
  readonly liveHosts?: Pick<LiveHosts, 'note'> | undefined;
  /** Schedules large submission batches by tenant. */
  readonly largeBatches: FairScheduler;
}

const route = routesWith<RecordingDeps>();

/** Bodies above this size, in bytes, are processed in turns. */
const LARGE_BODY_BYTES = 256 * 1024;
/** Two batches, so that one is parsed while the other waits for the database. */
const LARGE_BATCHES_AT_A_TIME = 2;
/**
 * Pause before the next large submission batch of a tenant, as a multiple of the time of the last one. After the
 * commit, its records pass through all later stages, which compete with other requests for disk and processor.
 */
const PAUSE = 4;

/** @param now milliseconds of a monotonic clock */
export function largeBatchTurns(now: () => number): FairScheduler {
  return new FairScheduler({ slots: LARGE_BATCHES_AT_A_TIME, now, pause: PAUSE });
}

const COOKIE_CONSENT: JsonObject = {
  consent_type: 'cookie',
  decision: 'partial',
  document_version_id: EXAMPLE_VALUES.versionId,
  language: 'en',
  categories: { necessary: true, analytics: false },
  visitor_id: EXAMPLE_VALUES.visitorId,
  compliance_framework: 'gdpr',
};

const keyed = (idempotencyKey: string): JsonObject => ({ ...COOKIE_CONSENT, idempotency_key: idempotencyKey });

/** A promise with a valid signature, by keys made for this example. */
const SHOWN_PROMISE: JsonObject = {
  text: 'consent-ledger promise v1\nconsent.example.org/ledger\nconsents-019d0b7e-11aa-7bbb-8ccc-0123456789ab\n019d0b7f-90c2-7c4e-8d1f-5a6b7c8d9e0f\nAu8+kRhx1bqwatmWyX1EAsyCgAJDJtgbk1PqrIipaaw=\n2026-11-21T10:00:00.123Z\n2026-11-21T10:10:00.123Z\n',
  index: 0,
  size: 2,
  path: ['da7e922c69c657ed7005b74601eb0b575d7ebf4e2a34ca5c6e99b98401f28210'],
  signed_root:
    'consent-ledger promises v1\nconsent.example.org/ledger\n2\nW4shFG3YmB710FyO6IFAmpheI6OBvvghIUAr73/78Vs=\n\n— consent.example.org/ledger fuMl4ebj/V2IWBFpdjB6dNxcq9RTo9E1jdCiLv5Xy+w1z8yN1J7AFTbXKBP19rgeR2oD+hd1JVnVTvPSdgBabLV3CQU=\n',
  certificate:
    'consent-ledger promise key v1\nconsent.example.org/ledger\nziHA/55uYMZpU+NXfIP24nFHKem08S43qm1sIItKbxA=\n\n— consent.example.org/ledger 7Ly1bS8uHFVysRzJMOfPMki4in3508IiOzqcUwL9K0sx6mZ5L+iCSeSdU6BVk72Xm3qNABLFJlKMWgudHS+c0dil/Qw=\n',
};

const SHOWN_ACCEPTANCE = {
  consent_token: EXAMPLE_VALUES.consentToken,
  proof_hash: SHOWN.proofHash,
  created_at: SHOWN.createdAt,
  duplicate: false,
  promise: SHOWN_PROMISE,
};

const SHOWN_ACCEPTED: JsonObject = { message: 'Consent accepted.', data: SHOWN_ACCEPTANCE };

const SHOWN_BATCH: JsonObject = {
  message: 'Batch processed; see the result of each item.',
  data: { accepted: 1, rejected: 0, results: [{ index: 0, status: 'accepted', ...SHOWN_ACCEPTANCE }] },
};

const recording = {
  auth: 'signed',
  method: 'post',
  tag: 'Consents',
  description:
    '202 means that all checks passed and that the record is durable; status and verify return it a moment later. Use one `idempotency_key` for each action of the user, and the same key in each retry.',
  status: 202,
  headers: {
    'Idempotency-Mismatch':
      '`true` if the idempotency key was used before with a different body; the response is that of the first request.',
  },
  errors: CONSENT_ERROR_CODES,
} as const;

/** Records consents of browsers, apps and backends, and mints one-time tokens. */
export const RECORDING_OPERATIONS = [
  route({
    ...recording,
    roles: null,
    id: 'recordConsent',
    path: '/tool/v1/consents',
    summary: 'Record one consent from a browser or a mobile app',
    body: BrowserConsentRequest,
    bodyLimit: SINGLE_BODY_BYTES,
    response: ConsentResponse,
    example: { body: keyed('checkout-7f3a-1'), response: SHOWN_ACCEPTED },
    handle: (call, deps) => recordOne(deps, call),
    handleTest: (call, deps) => recordOne(forTests(deps), call),
  }),
  route({
    ...recording,
    roles: null,
    id: 'recordConsentBatch',
    path: '/tool/v1/consents/batch',
    summary: 'Record 1 to 100 consents from a browser or a mobile app',
    body: BrowserConsentBatchRequest,
    bodyLimit: DEFAULT_BATCH_BODY_BYTES,
    response: ConsentBatchResponse,
    example: { body: { consents: [keyed('checkout-7f3a-2')] }, response: SHOWN_BATCH },
    handle: (call, deps) => recordBatch(deps, call),
    handleTest: (call, deps) => recordBatch(forTests(deps), call),
  }),
  route({
    ...recording,
    id: 'recordConsentS2s',
    path: '/tool/v1/s2s/consents',
    summary: 'Record one consent from a backend',
    roles: BACKEND,
    body: S2sConsentRequest,
    bodyLimit: SINGLE_BODY_BYTES,
    response: ConsentResponse,
    example: {
      body: {
        ...keyed('order-10023'),
        ip_address: '198.51.100.4',
        user_agent: 'Mozilla/5.0',
        otp_verified: true,
        otp_reference: 'otp-77',
      },
      response: SHOWN_ACCEPTED,
    },
    handle: (call, deps) => recordOne(deps, call),
    handleTest: (call, deps) => recordOne(forTests(deps), call),
  }),
  route({
    ...recording,
    id: 'recordConsentBatchS2s',
    path: '/tool/v1/s2s/consents/batch',
    summary: 'Record 1 to 100 consents from a backend',
    roles: BACKEND,
    body: S2sConsentBatchRequest,
    bodyLimit: DEFAULT_BATCH_BODY_BYTES,
    response: ConsentBatchResponse,
    example: {
      body: {
        consents: [
          {
            consent_type: 'document_approval',
            decision: 'accepted',
            document_version_id: EXAMPLE_VALUES.approvalVersionId,
            approval_token: EXAMPLE_VALUES.approvalToken,
            idempotency_key: 'order-10024',
          },
        ],
      },
      response: SHOWN_BATCH,
    },
    handle: (call, deps) => recordBatch(deps, call),
    handleTest: (call, deps) => recordBatch(forTests(deps), call),
  }),
  route({
    auth: 'signed',
    id: 'mintApprovalToken',
    method: 'post',
    path: '/tool/v1/s2s/approval-tokens',
    tag: 'Consents',
    summary: 'Mint a one-time approval token',
    roles: BACKEND,
    body: ApprovalTokenRequest,
    bodyLimit: APPROVAL_TOKEN_BODY_BYTES,
    status: 201,
    response: ApprovalTokenResponse,
    errors: ['DOCUMENT_NOT_FOUND', 'VERSION_NOT_FOUND', 'ADMISSION_UNAVAILABLE'],
    example: {
      body: {
        document_slug: 'explicit-consent',
        subject: EXAMPLE_VALUES.visitorId,
        otp_verified: true,
        expires_in: 600,
      },
      response: {
        message: 'Approval token minted.',
        data: {
          approval_token: EXAMPLE_VALUES.approvalToken,
          approval_token_id: 'atk_1xYb0cK9',
          expires_in: 600,
          expires_at: SHOWN.expiresAt,
          document_id: SHOWN.documentId,
          document_slug: 'explicit-consent',
          document_version_id: null,
        },
      },
    },
    handle: (call, deps) => mint(deps, call),
    handleTest: (call, deps) => mint(forTests(deps), call),
  }),
  route({
    auth: 'signed',
    id: 'mintPersonToken',
    method: 'post',
    path: '/tool/v1/s2s/person-tokens',
    tag: 'Consents',
    summary: 'Mint a person token',
    description:
      'You vouch for a person who is signed in at your site. The token is good for 15 minutes: for one recorded choice, as `person_token`, and to read the choices of the account, as `X-Person-Token`. Mint one for each choice.',
    roles: BACKEND,
    body: PersonTokenRequest,
    bodyLimit: APPROVAL_TOKEN_BODY_BYTES,
    status: 201,
    response: PersonTokenResponse,
    errors: ['ACCOUNTS_OFF', 'ADMISSION_UNAVAILABLE'],
    example: {
      body: { person: EXAMPLE_VALUES.visitorId },
      response: {
        message: 'Person token minted.',
        data: {
          person_token: SHOWN.personToken,
          person_token_id: 'ptk_4Zq7eH2M',
          expires_in: 900,
          expires_at: SHOWN.expiresAt,
        },
      },
    },
    handle: (call, deps) => mintForPerson(deps, call),
    handleTest: (call, deps) => mintForPerson(forTests(deps), call),
  }),
];

/**
 * Returns the routes with the body limit for submission batches that the operator chose.
 * @param bytes the largest body
 */
export function withBatchBodies<T extends Operation>(routes: readonly T[], bytes: number): readonly T[] {
  return routes.map((one) => (one.path.endsWith('/consents/batch') ? { ...one, bodyLimit: bytes } : one));
}

/**
 * Returns the dependencies for requests with test keys, which do not note live hosts. @throws ApiError TEST_KEY_REFUSED
 */
function forTests({ testAdmission, ...deps }: RecordingDeps): RecordingDeps {
  if (testAdmission === undefined) throw new ApiError('TEST_KEY_REFUSED');
  return { ...deps, admission: testAdmission, liveHosts: undefined };
}

async function mint({ admission }: RecordingDeps, call: SignedCall<unknown, unknown, ApprovalTokenRequest>) {
  return { message: 'Approval token minted.', data: await admission.mint(call.signed, call.body) };
}

async function mintForPerson({ admission }: RecordingDeps, call: SignedCall<unknown, unknown, PersonTokenRequest>) {
  return { message: 'Person token minted.', data: await admission.mintForPerson(call.signed, call.body) };
}

/** The members of a call that recording consents needs. */
type RecordingCall = Pick<SignedCall<unknown, unknown, unknown>, 'signed' | 'caller' | 'request' | 'reply'>;

async function recordOne(deps: RecordingDeps, call: RecordingCall): Promise<ConsentResponse> {
  const { consents } = await admit(deps, call, 'single');
  const [consent] = consents;
  if (consent?.status !== 'accepted') throw new Error('a single consent was neither accepted nor refused');
  return {
    message: consent.duplicate ? 'Consent was accepted before.' : 'Consent accepted.',
    data: acceptance(consent),
  };
}

async function recordBatch(deps: RecordingDeps, call: RecordingCall): Promise<ConsentBatchResponse> {
  const { consents } = await admit(deps, call, 'batch');
  const results = consents.map(batchItem);
  const accepted = results.filter(({ status }) => status === 'accepted').length;
  return {
    message: 'Batch processed; see the result of each item.',
    data: { accepted, rejected: results.length - accepted, results },
  };
}

/**
 * Records the consents of a request. Admission parses the body, because consents have errors beyond those of their
 * schema.
 */
async function admit(
  { admission, rateLimiter, largeBatches, liveHosts }: RecordingDeps,
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
      : await largeBatches.take(
          caller.site.tenantId,
          async (yieldToOthers) => {
            const json = outcomeOf(() => parseJsonBody(rawBody));
            await yieldToOthers();
            return admission.admit({ ...asked, yieldToOthers }, () => consentsOf(json()));
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
