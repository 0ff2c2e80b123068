import { RequestRefused } from '../../platform/errors/request-refused.js';
import type { RandomPool } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { Submission, SubmittedConsent } from './admit-group.js';
import { bodyDigest, idempotencyDigest } from './digests.js';
import { judge } from './judge.js';
import type { ParsedConsent } from './parse-consents.js';
import { type PreparedConsent, prepareConsent } from './prepare-consent.js';
import type { ConsentsRequest } from './request.js';
import type { FoundToken } from './token-identity.js';

/** Where the answer for one consent of the request comes from. */
export type JudgedConsent =
  | {
      readonly kind: 'submitted';
      /** Its place in the submission. */
      readonly place: number;
      readonly prepared: PreparedConsent | null;
      readonly refusal: { readonly scope: 'whole' | 'item'; readonly error: RequestRefused } | null;
    }
  /** The same idempotency key came earlier in the same batch: its answer holds. */
  | { readonly kind: 'twin'; readonly of: number; readonly sameBody: boolean };

export interface JudgedRequest {
  readonly submission: Submission;
  /** One for each consent of the request, in order. */
  readonly consents: readonly JudgedConsent[];
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
  readonly isOutboxFull: boolean;
}

const RETRY_AFTER_SECONDS = 5;

/** Judges every consent of a request by one state of its site, and makes the events of those that are fit. */
export function submissionOf(options: SubmissionOptions, random: RandomPool): JudgedRequest {
  const { site, consents, nonce } = options;
  const { channel } = options.request.caller;
  const submitted: SubmittedConsent[] = [];
  const judged: JudgedConsent[] = [];
  const firstByKey = new Map<string, { readonly index: number; readonly body: Buffer }>();

  for (const [index, consent] of consents.entries()) {
    const key = consent.request.idempotency_key ?? null;
    const body = key === null ? null : bodyDigest(site.siteKey, consent.source);
    if (key !== null && body !== null) {
      const first = firstByKey.get(key);
      if (first !== undefined) {
        judged.push({ kind: 'twin', of: first.index, sameBody: first.body.equals(body) });
        continue;
      }
      firstByKey.set(key, { index, body });
    }
    const { prepared, refusal } = judgeAndPrepare(options, consent, random);
    judged.push({ kind: 'submitted', place: submitted.length, prepared, refusal });
    submitted.push({
      refusal: refusal?.scope ?? 'none',
      prepared,
      idempotency: key === null ? null : idempotencyDigest(site.siteKey, channel, key),
      bodyDigest: body,
    });
  }
  return { submission: { site, nonce, consents: submitted }, consents: judged };
}

function judgeAndPrepare(
  { request, site, tokens, now, isOutboxFull }: SubmissionOptions,
  consent: ParsedConsent,
  random: RandomPool,
): Pick<Extract<JudgedConsent, { kind: 'submitted' }>, 'prepared' | 'refusal'> {
  const token = consent.request.approval_token;
  const judgement = judge(consent, site, token == null ? null : (tokens.get(token) ?? null));
  if (judgement.kind === 'refused') return { prepared: null, refusal: judgement };
  if (isOutboxFull) {
    const error = new RequestRefused('QUEUE_OVERLOADED', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    return { prepared: null, refusal: { scope: 'whole', error } };
  }
  const { caller, connection } = request;
  return { prepared: prepareConsent({ consent, judgement, site, caller, connection, now }, random), refusal: null };
}
