import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { PublicVerifyAnswer, PublicVerifyRequest, PublicVerifyResponse } from '../../../schemas/api/verify.js';
import { eventIdOfTestToken } from '../../../schemas/events/consent-recorded.js';
import type { ReceiptResult } from '../../evidence/package/index.js';
import { parseIdentifier } from '../../evidence/verification/stored-record.js';
import type { Verification, Verifier } from '../../evidence/verification/verifier.js';
import { FairTurns } from '../guards/fair-turns.js';
import { refuseExcess, setRateLimitHeaders } from '../guards/rate-limit.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import { sendError } from '../server/error-response.js';
import { goneClient } from '../server/gone-client.js';
import { validate } from '../server/json-body.js';
import { bodyOf, paramsOf, registerOperation } from '../server/register-operation.js';
import { answerReceipt } from '../tool/answer-receipt.js';
import { verifiedRecord } from '../tool/get-verify.js';
import { readClientToken } from './client-token.js';
import { getReceipt, verifyPublicly, verifyPubliclyByPost } from './operations.js';

export interface PublicVerifyOptions {
  readonly verifier: Verifier;
  /** Makes the receipt of a record without personal values. */
  readonly receiptOf: (eventId: string) => Promise<ReceiptResult>;
  readonly rateLimiter: RateLimiter;
  /** Requests a minute of one client (`countedClient`). */
  readonly limit: number;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/**
 * Strangers from many networks pass the limit of each. One of their requests costs several
 * statements. They therefore get one processor's share at most, and the tenants' requests the
 * rest.
 */
const AT_A_TIME = 2;
const PAUSE = 1;
const MAX_WAITING = 500;

/**
 * Registers public verification on a scope with the prefix /api/v1/public. The requests of one
 * address are limited before the body is read.
 */
export function servePublic(
  scope: FastifyInstance,
  { verifier, receiptOf, rateLimiter, limit, now }: PublicVerifyOptions,
): void {
  const turns = new FairTurns({ slots: AT_A_TIME, now, pause: PAUSE, maxWaiting: MAX_WAITING });
  const inTurn = <T>(request: FastifyRequest, reply: FastifyReply, work: () => Promise<T>): Promise<T> =>
    turns.take(request.countedClient, work, goneClient(reply));
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const decision = await rateLimiter.take('public-verify', request.countedClient, limit);
    setRateLimitHeaders(reply, decision);
    refuseExcess(decision, 'RATE_LIMIT_EXCEEDED');
  };
  registerOperation(scope, verifyPublicly, {
    onRequest,
    handler: (request, reply) => {
      const asked = validate(verifyPublicly.query, request.query);
      return inTurn(request, reply, () => answer(verifier, asked, reply));
    },
  });
  registerOperation(scope, getReceipt, {
    onRequest,
    handler: (request, reply) => {
      const { token } = paramsOf(getReceipt, request);
      return inTurn(request, reply, () => answerReceipt(token, reply, receiptOf));
    },
  });
  registerOperation(scope, verifyPubliclyByPost, {
    onRequest,
    handler: (request, reply) => {
      const asked = bodyOf(verifyPubliclyByPost, request) ?? {};
      return inTurn(request, reply, () => answer(verifier, asked, reply));
    },
  });
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
  // A test record is shown to nobody: its token alone says that it proves nothing.
  const isTest = eventIdOfTestToken(client.consent_token ?? '') !== null;
  return {
    ...{ valid: false, source: 'client_token', server_record_found: false },
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
      categories: record?.categories ?? null,
      language: record?.language ?? null,
      valid_until: record?.valid_until ?? null,
      timestamp:
        timestamp === null ? null : { time: timestamp.time.toISOString(), checkpoint_size: timestamp.checkpointSize },
    },
  };
}
