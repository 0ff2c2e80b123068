import type { FieldError } from '../../../schemas/api/error-codes.js';
import { consentToken, eventIdOfConsentToken, isPersonTokenId } from '../../../schemas/events/consent-recorded.js';
import type { SignedPromise } from '../../../schemas/evidence/promise.js';
import { RequestRefused } from '../../platform/errors.js';
import type { ConsentOutcome, SubmissionOutcome } from './admit-group.js';
import { noSubscription, QUOTA_RETRY_SECONDS, tokenUsed } from './evaluate.js';
import type { PromisedOutcome } from './promises.js';
import type { EvaluatedConsent, EvaluatedRequest } from './submission.js';

export interface AcceptedConsent {
  readonly status: 'accepted';
  readonly consentToken: string;
  /** Lower-case hex. */
  readonly proofHash: string;
  /** Time in ISO 8601, UTC. */
  readonly createdAt: string;
  readonly duplicate: boolean;
  /** Null if the service could not sign it. */
  readonly promise: SignedPromise | null;
  /** Parts of the request that were ignored. */
  readonly warnings: readonly FieldError[];
}

export type ConsentResult = AcceptedConsent | { readonly status: 'rejected'; readonly error: RequestRefused };

export interface AdmissionResult {
  /**
   * One result for each consent of the request, in order. For a single consent: its accepted
   * result.
   */
  readonly consents: readonly ConsentResult[];
  /** Records whose idempotency keys were reused with a different body. The response is then the original one. */
  readonly conflicts: readonly string[];
}

/** Otherwise the caller could take the response for one to this consent. */
const OTHER_BODY: FieldError = {
  field: 'idempotency_key',
  message:
    'was used before with another consent: this consent was not recorded, and the response is that to the first one. Use a new key for each action of the person.',
};

/**
 * Builds the result of a request.
 * @throws RequestRefused if the request was refused as a whole, or its single consent was refused
 */
export function resultsOf(
  shape: 'single' | 'batch',
  { consents }: EvaluatedRequest,
  outcome: PromisedOutcome,
): AdmissionResult {
  if (outcome.request === 'refused') throw wholeRefusal(shape, consents, outcome);
  const conflicts: string[] = [];
  const results: ConsentResult[] = [];
  for (const consent of consents) {
    if (consent.kind === 'duplicate') {
      const first = known(results[consent.of]);
      if (first.status !== 'accepted') {
        results.push(first);
        continue;
      }
      const eventId = eventIdOfConsentToken(first.consentToken);
      if (!consent.sameBody && eventId !== null) conflicts.push(eventId);
      results.push({ ...first, duplicate: true, warnings: consent.sameBody ? consent.warnings : [OTHER_BODY] });
      continue;
    }
    const own = known(outcome.consents[consent.place]);
    if (own.kind === 'duplicate' && !own.original.sameBody) conflicts.push(own.original.eventId);
    results.push(resultOf(consent, own, outcome.promises[consent.place] ?? null));
  }
  const [first] = results;
  if (shape === 'single' && first?.status === 'rejected') throw first.error;
  return { consents: results, conflicts };
}

function resultOf(
  consent: Extract<EvaluatedConsent, { kind: 'submitted' }>,
  outcome: ConsentOutcome,
  promise: SignedPromise | null,
): ConsentResult {
  const { warnings, prepared } = consent;
  const isOfPerson = isPersonTokenId(prepared?.tokenId ?? null);
  switch (outcome.kind) {
    case 'accepted': {
      const { eventId, proofHash, createdAt } = known(prepared);
      return accepted(eventId, proofHash.toString('hex'), createdAt, { duplicate: false, promise, warnings });
    }
    case 'duplicate': {
      const { eventId, proofHash, createdAt, sameBody } = outcome.original;
      return accepted(eventId, proofHash, createdAt, {
        duplicate: true,
        promise,
        warnings: sameBody ? warnings : [OTHER_BODY],
      });
    }
    case 'refused':
      return rejected(known(consent.refusal).error);
    case 'token_invalid':
      return rejected(new RequestRefused(isOfPerson ? 'PERSON_TOKEN_INVALID' : 'APPROVAL_TOKEN_INVALID'));
    case 'token_used':
      return rejected(tokenUsed(isOfPerson ? 'person' : 'approval'));
    case 'no_subscription':
      return rejected(noSubscription());
    case 'quota_used_up':
      return rejected(
        new RequestRefused('CONSENT_LIMIT_EXCEEDED', undefined, { retryAfterSeconds: QUOTA_RETRY_SECONDS }),
      );
    case 'not_evaluated':
      throw new Error('a consent of a fresh request was not evaluated');
  }
}

/**
 * Returns the first refusal that applies. A refusal does not apply to an item whose idempotency key
 * is stored.
 */
function wholeRefusal(
  shape: 'single' | 'batch',
  consents: readonly EvaluatedConsent[],
  outcome: SubmissionOutcome,
): RequestRefused {
  for (const [index, consent] of consents.entries()) {
    if (consent.kind !== 'submitted' || consent.refusal?.scope !== 'whole') continue;
    if (outcome.consents[consent.place]?.kind === 'duplicate') continue;
    const { code, message, details } = consent.refusal.error;
    if (shape === 'single') return consent.refusal.error;
    const errors = details.errors?.map((error) => ({ ...error, field: `consents.${index}.${error.field}` }));
    return new RequestRefused(code, `consents.${index}: ${message}`, { ...details, ...(errors && { errors }) });
  }
  throw new Error('a request was refused whole without a reason');
}

function accepted(
  eventId: string,
  proofHash: string,
  createdAt: number,
  answer: Pick<AcceptedConsent, 'duplicate' | 'promise' | 'warnings'>,
): AcceptedConsent {
  return {
    status: 'accepted',
    consentToken: consentToken(eventId),
    proofHash,
    createdAt: new Date(createdAt).toISOString(),
    ...answer,
  };
}

function rejected(error: RequestRefused): ConsentResult {
  return { status: 'rejected', error };
}

function known<T>(value: T | null | undefined): T {
  if (value == null) throw new Error('an outcome is missing');
  return value;
}
