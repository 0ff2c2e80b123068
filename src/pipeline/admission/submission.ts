import { hash } from 'node:crypto';
import type { FieldError } from '../../../schemas/api/error-codes.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { RequestRefused } from '../../platform/errors.js';
import { hmacSha256, type RandomPool } from '../../platform/keys/index.js';
import type { Caller, Channel, SiteContext } from '../../tenancy/directory/site-context.js';
import type { Submission, SubmittedConsent } from './admit-group.js';
import type { FoundToken } from './approval-tokens.js';
import { evaluate } from './evaluate.js';
import { type ParsedConsent, tokenIn, unknownValues } from './parse-consents.js';
import { type Connection, type PreparedConsent, prepareConsent } from './prepare-consent.js';

/**
 * A signed request with a valid API key, signature, timestamp and nonce format. Nothing else is
 * checked yet.
 */
export interface SignedRequest {
  readonly caller: Caller;
  readonly nonce: string;
  /**
   * Checks the credentials and the origin of the request again, against a newer state of the site.
   * @throws RequestRefused
   */
  readonly authorize: (site: SiteContext) => void;
}

export interface ConsentsRequest extends SignedRequest {
  readonly shape: 'single' | 'batch';
  readonly connection: Connection;
  /**
   * Takes the consents of the request from a limit.
   * @throws RequestRefused
   */
  readonly takeConsents?: (consents: number) => Promise<void>;
  /** Called between the steps of a large request, so that other requests are answered meanwhile. */
  readonly yieldToOthers?: () => Promise<void>;
}

/** 128 bits: two keys of one site practically never collide, and the index is half as large. */
const DIGEST_BYTES = 16;

/**
 * Returns the digest that the database stores of a nonce. It is not keyed, because a nonce
 * belongs to one site and is not personal data.
 */
export function nonceDigest(siteId: string, nonce: string): Buffer {
  return Buffer.from(hash('sha256', `${siteId}\0${nonce}`, 'binary'), 'latin1').subarray(0, DIGEST_BYTES);
}

/**
 * Returns the digest that the database stores of an idempotency key.
 * Browser and backend have separate key spaces. The API key of a browser is public, and a visitor
 * must not claim a key that the backend is going to use.
 * The digest is keyed, because clients put names into idempotency keys.
 */
function idempotencyDigest(siteKey: Uint8Array, channel: Channel, key: string): Buffer {
  return hmacSha256(siteKey, `idempotency\0${channel}\0${key}`).subarray(0, DIGEST_BYTES);
}

/**
 * Returns the digest that shows whether a later request with the same idempotency key has the same body. It covers the
 * canonical text (RFC 8785), because the order of members does not matter. It is keyed, so low-entropy content cannot
 * be guessed from it.
 * @param vouched what the one-time token of the consent vouches for, so that another token for the same person does not
 * count as another body. Null if the consent has no token, or one that the site does not know
 */
export function bodyDigest(siteKey: Uint8Array, consent: JsonObject, vouched: JsonObject | null): Buffer {
  const { approval_token: _, person_token: __, ...stated } = consent;
  return hmacSha256(siteKey, `body\0${canonicalJson({ stated, vouched })}`).subarray(0, DIGEST_BYTES);
}

/** Source of the result of one consent of the request. */
export type EvaluatedConsent =
  | {
      readonly kind: 'submitted';
      /** Index of the consent in the submission. */
      readonly place: number;
      readonly prepared: PreparedConsent | null;
      readonly refusal: { readonly scope: 'whole' | 'item'; readonly error: RequestRefused } | null;
      readonly warnings: readonly FieldError[];
    }
  /**
   * The same idempotency key occurred earlier in the same submission batch; that result applies.
   */
  | {
      readonly kind: 'duplicate';
      readonly of: number;
      readonly sameBody: boolean;
      readonly warnings: readonly FieldError[];
    };

export interface EvaluatedRequest {
  readonly submission: Submission;
  /** One entry for each consent of the request, in order. */
  readonly consents: readonly EvaluatedConsent[];
}

export interface SubmissionOptions {
  readonly request: Pick<ConsentsRequest, 'caller' | 'connection'>;
  readonly consents: readonly ParsedConsent[];
  readonly site: SiteContext;
  /** The tokens by their secret. */
  readonly tokens: ReadonlyMap<string, FoundToken>;
  readonly nonce: Buffer | null;
  /** Unix milliseconds. */
  readonly now: number;
  /** Milliseconds from `now` to the promised deadline of a record's sealing. */
  readonly sealWithinMs: number;
  readonly isOutboxFull: boolean;
}

const RETRY_AFTER_SECONDS = 5;

/**
 * Evaluates every consent of a request against one state of its site, and creates the events of the
 * admissible ones.
 */
export function submissionOf(options: SubmissionOptions, random: RandomPool): EvaluatedRequest {
  const evaluation = new Evaluation(options, random);
  for (const consent of options.consents) evaluation.add(consent);
  return evaluation.result();
}

/**
 * Does the same as `submissionOf` in steps, for requests whose evaluation would keep others waiting.
 * @param yieldToOthers called after each consent; lets other requests go first after enough work
 */
export async function submissionInSteps(
  options: SubmissionOptions,
  random: RandomPool,
  yieldToOthers: () => Promise<void>,
): Promise<EvaluatedRequest> {
  const evaluation = new Evaluation(options, random);
  for (const consent of options.consents) {
    evaluation.add(consent);
    await yieldToOthers();
  }
  return evaluation.result();
}

class Evaluation {
  readonly #submitted: SubmittedConsent[] = [];
  readonly #evaluated: EvaluatedConsent[] = [];
  readonly #firstByKey = new Map<string, { readonly index: number; readonly body: Buffer }>();

  constructor(
    private readonly options: SubmissionOptions,
    private readonly random: RandomPool,
  ) {}

  /** Evaluates the next consent of the request. */
  add(consent: ParsedConsent): void {
    const { site, request, tokens } = this.options;
    const key = consent.request.idempotency_key ?? null;
    const vouched = tokens.get(tokenIn(consent.request) ?? '')?.identity ?? null;
    const body = key === null ? null : bodyDigest(site.siteKey, consent.source, vouched && { ...vouched });
    if (key !== null && body !== null) {
      const first = this.#firstByKey.get(key);
      if (first !== undefined) {
        this.#evaluated.push({
          kind: 'duplicate',
          of: first.index,
          sameBody: first.body.equals(body),
          warnings: consent.warnings,
        });
        return;
      }
      this.#firstByKey.set(key, { index: this.#evaluated.length, body });
    }
    const { prepared, refusal, warnings } = evaluateAndPrepare(this.options, consent, this.random);
    this.#evaluated.push({ kind: 'submitted', place: this.#submitted.length, prepared, refusal, warnings });
    this.#submitted.push({
      refusal: refusal?.scope ?? 'none',
      prepared,
      idempotency: key === null ? null : idempotencyDigest(site.siteKey, request.caller.channel, key),
      bodyDigest: body,
    });
  }

  result(): EvaluatedRequest {
    const { site, nonce, request } = this.options;
    const isPublishable = request.caller.apiKey.restriction === 'publishable';
    return { submission: { site, nonce, isPublishable, consents: this.#submitted }, consents: this.#evaluated };
  }
}

function evaluateAndPrepare(
  { request, site, tokens, now, sealWithinMs, isOutboxFull }: SubmissionOptions,
  consent: ParsedConsent,
  random: RandomPool,
): Pick<Extract<EvaluatedConsent, { kind: 'submitted' }>, 'prepared' | 'refusal' | 'warnings'> {
  const evaluation = evaluate(consent, site, tokens.get(tokenIn(consent.request) ?? '') ?? null);
  const { warnings } = consent;
  if (evaluation.kind === 'refused') return { prepared: null, refusal: evaluation, warnings };
  if (isOutboxFull) {
    const error = new RequestRefused('QUEUE_OVERLOADED', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    return { prepared: null, refusal: { scope: 'whole', error }, warnings };
  }
  const { caller, connection } = request;
  return {
    prepared: prepareConsent({ consent, evaluation, site, caller, connection, now, sealWithinMs }, random),
    refusal: null,
    warnings: [...warnings, ...unknownValues(consent.request, evaluation.config, evaluation.version, caller.channel)],
  };
}
