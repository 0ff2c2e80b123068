import { RequestRefused } from '../../platform/errors/request-refused.js';
import type { RandomPool } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { Submission, SubmittedConsent } from './admit-group.js';
import { bodyDigest, idempotencyDigest } from './digests.js';
import { evaluate } from './evaluate.js';
import type { ParsedConsent } from './parse-consents.js';
import { type PreparedConsent, prepareConsent } from './prepare-consent.js';
import type { ConsentsRequest } from './request.js';
import type { FoundToken } from './token-identity.js';

/** Source of the result of one consent of the request. */
export type EvaluatedConsent =
  | {
      readonly kind: 'submitted';
      /** Its index in the submission. */
      readonly place: number;
      readonly prepared: PreparedConsent | null;
      readonly refusal: { readonly scope: 'whole' | 'item'; readonly error: RequestRefused } | null;
    }
  /**
   * The same idempotency key occurred earlier in the same submission batch; that result applies.
   */
  | { readonly kind: 'twin'; readonly of: number; readonly sameBody: boolean };

export interface EvaluatedRequest {
  readonly submission: Submission;
  /** One entry for each consent of the request, in order. */
  readonly consents: readonly EvaluatedConsent[];
}

export interface SubmissionOptions {
  readonly request: Pick<ConsentsRequest, 'caller' | 'connection'>;
  readonly consents: readonly ParsedConsent[];
  readonly site: SiteContext;
  /** By their secret. */
  readonly tokens: ReadonlyMap<string, FoundToken>;
  readonly nonce: Buffer | null;
  /** Unix milliseconds. */
  readonly now: number;
  /** Milliseconds from `now` to the sealing of a record, as promised. */
  readonly sealWithinMs: number;
  readonly isOutboxFull: boolean;
}

const RETRY_AFTER_SECONDS = 5;

/**
 * Evaluates every consent of a request against one state of its site, and creates the events of the
 * admissible ones.
 */
export function submissionOf(options: SubmissionOptions, random: RandomPool): EvaluatedRequest {
  const { site, consents, nonce } = options;
  const { channel } = options.request.caller;
  const submitted: SubmittedConsent[] = [];
  const evaluated: EvaluatedConsent[] = [];
  const firstByKey = new Map<string, { readonly index: number; readonly body: Buffer }>();

  for (const [index, consent] of consents.entries()) {
    const key = consent.request.idempotency_key ?? null;
    const body = key === null ? null : bodyDigest(site.siteKey, consent.source);
    if (key !== null && body !== null) {
      const first = firstByKey.get(key);
      if (first !== undefined) {
        evaluated.push({ kind: 'twin', of: first.index, sameBody: first.body.equals(body) });
        continue;
      }
      firstByKey.set(key, { index, body });
    }
    const { prepared, refusal } = evaluateAndPrepare(options, consent, random);
    evaluated.push({ kind: 'submitted', place: submitted.length, prepared, refusal });
    submitted.push({
      refusal: refusal?.scope ?? 'none',
      prepared,
      idempotency: key === null ? null : idempotencyDigest(site.siteKey, channel, key),
      bodyDigest: body,
    });
  }
  return { submission: { site, nonce, consents: submitted }, consents: evaluated };
}

function evaluateAndPrepare(
  { request, site, tokens, now, sealWithinMs, isOutboxFull }: SubmissionOptions,
  consent: ParsedConsent,
  random: RandomPool,
): Pick<Extract<EvaluatedConsent, { kind: 'submitted' }>, 'prepared' | 'refusal'> {
  const token = consent.request.approval_token;
  const evaluation = evaluate(consent, site, token == null ? null : (tokens.get(token) ?? null));
  if (evaluation.kind === 'refused') return { prepared: null, refusal: evaluation };
  if (isOutboxFull) {
    const error = new RequestRefused('QUEUE_OVERLOADED', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    return { prepared: null, refusal: { scope: 'whole', error } };
  }
  const { caller, connection } = request;
  return {
    prepared: prepareConsent({ consent, evaluation, site, caller, connection, now, sealWithinMs }, random),
    refusal: null,
  };
}
