import type { FastifyInstance, FastifyReply } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { ReceiptParams } from '../../../schemas/api/receipts.js';
import {
  ClientTokenFields,
  PublicVerifyAnswer,
  PublicVerifyRequest,
  type PublicVerifyResponse,
} from '../../../schemas/api/verify.js';
import { decodeUtf8, fromBase64, fromBase64url } from '../../../schemas/crypto/encoding.js';
import { lateMembersOf, servicesOf } from '../../../schemas/events/consent-imported.js';
import { eventIdOfTestToken } from '../../../schemas/events/consent-recorded.js';
import { Receipt } from '../../../schemas/evidence/receipt.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import { parseStrictJson, StrictJsonError } from '../../../schemas/json/strict-json.js';
import { withoutTrailing } from '../../../schemas/text/without-trailing.js';
import type { ReceiptResult } from '../../evidence/package/index.js';
import { parseIdentifier } from '../../evidence/verification/stored-record.js';
import type { Verification, Verifier } from '../../evidence/verification/verifier.js';
import { FairScheduler } from '../guards/fair-scheduler.js';
import { type RateLimiter, refuseExcess, setRateLimitHeaders } from '../guards/rate-limiter.js';
import { sendError } from '../server/error-response.js';
import { EXAMPLE_VALUES, SHOWN, SHOWN_CHECK } from '../server/example-values.js';
import { goneClient } from '../server/gone-client.js';
import { parsedParts, registerOperation } from '../server/register-operation.js';
import { routesWith } from '../server/route.js';
import { answerReceipt } from '../tool/receipts.js';
import { verifiedRecord } from '../tool/verify.js';

interface PublicDeps {
  readonly verifier: Verifier;
  /** Makes the receipt of a record without personal values. */
  readonly receiptOf: (eventId: string) => Promise<ReceiptResult>;
}

export interface ServePublicOptions extends PublicDeps {
  readonly rateLimiter: RateLimiter;
  /** Requests per minute of one client (`countedClient`). */
  readonly limit: number;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

const route = routesWith<PublicDeps>();

const SHOWN_PUBLIC_CHECK: JsonObject = {
  valid: true,
  source: 'server',
  server_record_found: true,
  data: {
    ...SHOWN_CHECK,
    site_domain: 'shop.example',
    withdrawal_url: 'https://shop.example/choices',
    categories: { necessary: true, analytics: false },
    services: null,
    language: 'en',
    valid_until: SHOWN.validUntil,
    scope: 'device',
    timestamp: { time: '2026-11-21T10:01:00.000Z', checkpoint_size: 7 },
  },
};

const shared = { auth: 'open', limit: 'address', tag: 'Public verification' } as const;
const verifying = {
  ...shared,
  path: '/api/v1/public/consents/verify',
  description:
    'Anyone may call it, with a consent token or the value of the consent cookie, a proof hash or a record id. If several are given, the first that identifies a record counts, in this order.',
  response: PublicVerifyAnswer,
  errors: ['CONSENT_NOT_FOUND', 'IDENTIFIER_REQUIRED'],
} as const;

/** Operations of public verification. */
export const PUBLIC_OPERATIONS = [
  route({
    ...verifying,
    id: 'verifyPublicly',
    summary: 'Check the integrity of one record',
    query: PublicVerifyRequest,
    example: { query: { token: EXAMPLE_VALUES.consentToken }, response: SHOWN_PUBLIC_CHECK },
    handle: ({ query, reply }, { verifier }) => answer(verifier, query, reply),
  }),
  route({
    ...verifying,
    id: 'verifyPubliclyByPost',
    method: 'post',
    summary: 'Check the integrity of one record, identified in the body',
    // A request without a body identifies no record, which has an error code of its own.
    body: PublicVerifyRequest.optional(),
    bodyLimit: 16_384,
    example: { body: { token: EXAMPLE_VALUES.consentToken }, response: SHOWN_PUBLIC_CHECK },
    handle: ({ body, reply }, { verifier }) => answer(verifier, body ?? {}, reply),
  }),
  route({
    ...shared,
    id: 'getReceipt',
    path: '/api/v1/public/consents/{token}/receipt',
    summary: 'Get the receipt of a record',
    description:
      'The evidence of one record in one JSON file, without personal values, for `consent-verify check`. It stays the same, except for cosignatures that arrive later.',
    params: ReceiptParams,
    invalidParams: 'CONSENT_NOT_FOUND',
    response: Receipt,
    errors: ['CONSENT_NOT_FOUND', 'RECEIPT_NOT_READY'],
    example: { path: { token: EXAMPLE_VALUES.consentToken } },
    handle: ({ params, reply }, { receiptOf }) => answerReceipt(params.token, reply, receiptOf),
  }),
];

/**
 * Anonymous requests from many networks stay below the limit of each, and each of them costs several statements.
 * Together they therefore get at most one processor, which leaves the others to tenants.
 */
const AT_A_TIME = 2;
const PAUSE = 1;
const MAX_WAITING = 500;

/**
 * Registers public verification on a scope with the prefix /api/v1/public. The limit per address applies before the
 * body is read.
 */
export function servePublic(scope: FastifyInstance, options: ServePublicOptions): void {
  const { rateLimiter, limit, now } = options;
  const turns = new FairScheduler({ slots: AT_A_TIME, now, pause: PAUSE, maxWaiting: MAX_WAITING });
  for (const one of PUBLIC_OPERATIONS) {
    registerOperation(scope, one, {
      onRequest: async (request, reply) => {
        const decision = await rateLimiter.take('public-verify', request.countedClient, limit);
        setRateLimitHeaders(reply, decision);
        refuseExcess(decision, 'RATE_LIMIT_EXCEEDED');
      },
      handler: async (request, reply) => {
        const call = { ...parsedParts(one, request), request, reply };
        return turns.take(request.countedClient, () => one.handle(call, options), goneClient(reply));
      },
    });
  }
}

async function answer(
  verifier: Verifier,
  asked: PublicVerifyRequest,
  reply: FastifyReply,
): Promise<PublicVerifyAnswer | FastifyReply> {
  const given = [asked.token, asked.proof_hash, asked.id].filter((text) => text != null && text !== '');
  if (given.length === 0) return sendError(reply, new ApiError('IDENTIFIER_REQUIRED'), { valid: false });
  const client = asked.token == null ? null : readClientToken(asked.token);
  const named = [...given, client?.consent_token, client?.proof_hash];
  const found = await findFirst(verifier, named);
  if (found !== null) return foundResponse(found);
  if (client === null) return sendError(reply, new ApiError('CONSENT_NOT_FOUND'), { valid: false });
  // A test record is never shown: its token alone says that it proves nothing.
  const isTest = eventIdOfTestToken(client.consent_token ?? '') !== null;
  return {
    valid: false,
    source: 'client_token',
    server_record_found: false,
    ...(isTest && { reason: 'test' }),
    data: client,
  };
}

async function findFirst(
  verifier: Verifier,
  texts: readonly (string | null | undefined)[],
): Promise<Verification | null> {
  for (const text of texts) {
    const identifier = text == null ? null : parseIdentifier(text);
    const found = identifier === null ? null : await verifier.verify(identifier, null);
    if (found !== null) return found;
  }
  return null;
}

function foundResponse(found: Verification): PublicVerifyResponse {
  const { record, timestamp } = found;
  return {
    valid: found.valid,
    source: 'server',
    server_record_found: true,
    data: {
      ...verifiedRecord(found),
      site_domain: found.siteDomain,
      withdrawal_url: found.withdrawalUrl,
      categories: record?.categories ?? null,
      services: record === null ? null : servicesOf(record),
      language: record?.language ?? null,
      valid_until: record?.valid_until ?? null,
      scope: record === null ? null : lateMembersOf(record).scope,
      timestamp:
        timestamp === null ? null : { time: timestamp.time.toISOString(), checkpoint_size: timestamp.checkpointSize },
    },
  };
}

const MAX_DEPTH = 4;
const NAMES = Object.keys(ClientTokenFields.shape);

/**
 * Reads a value of the SDK's cookie `_svc_consent`: a JSON object, plain, percent-encoded, or in base64 or base64url;
 * or just the token of a test record. Only valid fields that say nothing about a person are used.
 * @returns null if the value is not such a token
 */
export function readClientToken(value: string): ClientTokenFields | null {
  if (eventIdOfTestToken(value) !== null) return { consent_token: value };
  for (const text of candidates(value)) {
    const json = parseObject(text);
    if (json !== null) return knownFields(json);
  }
  return null;
}

function candidates(value: string): readonly string[] {
  const decoded = percentDecoded(value) ?? value;
  const bytes = fromBase64url(withoutTrailing(decoded, '=')) ?? fromBase64(decoded);
  const text = bytes === null ? null : decodeUtf8(bytes);
  return text === null ? [decoded] : [decoded, text, percentDecoded(text) ?? text];
}

function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function parseObject(text: string): JsonObject | null {
  if (!text.startsWith('{')) return null;
  try {
    const value: JsonValue = parseStrictJson(text, MAX_DEPTH);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch (error) {
    if (error instanceof StrictJsonError) return null;
    throw error;
  }
}

/** Parses the categories of the cookie: keys, with `!` before those that were refused. */
function readAnswers(text: string): JsonObject {
  const keys = text.split('.').filter((key) => key !== '');
  return Object.fromEntries(keys.map((key) => [key.replace(/^!/, ''), !key.startsWith('!')]));
}

function knownFields(json: JsonObject): ClientTokenFields {
  const given: JsonObject = { ...json };
  if (given.consent_token === undefined && given.token !== undefined) given.consent_token = given.token;
  if (typeof given.categories === 'string') given.categories = readAnswers(given.categories);
  const kept = Object.fromEntries(NAMES.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]));
  const parsed = ClientTokenFields.safeParse(kept);
  if (parsed.success) return parsed.data;
  const wrong = new Set(parsed.error.issues.map(({ path }) => path[0]));
  return ClientTokenFields.parse(Object.fromEntries(Object.entries(kept).filter(([name]) => !wrong.has(name))));
}
