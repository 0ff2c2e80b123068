import type { Acceptance } from './answers.js';
import { someAnswer } from './choice.js';
import { areAnswers, isNumber, isText, listOf, nullable, objectOf, optional, parseJson } from './guards.js';

/** A consent that waits for the service's answer. */
export interface QueuedConsent {
  readonly idempotency_key: string;
  /** The exact text that every attempt sends. */
  readonly body: string;
  /** Unix milliseconds. */
  readonly queued_at: number;
}

/** Failed attempts to send a consent, on this page. */
export interface Tries {
  readonly count: number;
  /** Failures that the consent itself caused, with a service and a network that work otherwise. */
  readonly faults: number;
  /** Unix milliseconds before which it is not sent. */
  readonly notBefore: number;
}

/**
 * The next step: send a consent, or wait some milliseconds. Null if there is nothing to do until the page is shown or
 * online again.
 */
export type Move = { readonly send: QueuedConsent } | { readonly waitMs: number } | null;

/** Names of queued consents in a store begin with it. */
export const QUEUE = 'queue:';
/** Failed attempts after which a page stops, until it is online again, shown again or opened again. */
export const MOST_ATTEMPTS = 8;
/** Number of failures of its own after which a consent lets later ones of its stream pass. */
const MOST_FAULTS = 3;
/** Longest wait of a page. If the wait would be longer, a later page sends the consent. */
const LONGEST_WAIT_MS = 300_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

export const isQueued = objectOf<QueuedConsent>({ idempotency_key: isText, body: isText, queued_at: isNumber });
const isSent = objectOf<{
  consent_type: string;
  decision: string;
  document_version_id: string;
  visitor_id?: string | undefined;
  categories?: Record<string, boolean> | undefined;
  services?: Record<string, boolean> | undefined;
  language?: string | undefined;
}>({
  consent_type: isText,
  decision: isText,
  document_version_id: isText,
  visitor_id: optional(isText),
  categories: optional(areAnswers),
  services: optional(areAnswers),
  language: optional(isText),
});

/** The part of a body that the SDK reads again, or undefined for another text. */
export const sentOf = ({ body }: Pick<QueuedConsent, 'body'>) => parseJson(body, isSent);

/**
 * The name of the stream that orders a consent: the consents of one person to cookies, to the sale of data, or to one
 * document version. Different streams never wait for each other.
 */
export function streamOf(item: QueuedConsent): string {
  const sent = sentOf(item);
  const isApproval = sent?.consent_type !== 'cookie' && sent?.consent_type !== 'do_not_sell_opt_out';
  return JSON.stringify([sent?.consent_type, sent?.visitor_id, isApproval && sent?.document_version_id]);
}

/** Whether a consent withdraws or refuses. */
function isWithdrawal(item: QueuedConsent): boolean {
  const sent = sentOf(item);
  return (
    sent?.decision === 'withdrawn' || sent?.decision === 'rejected' || sent?.consent_type === 'do_not_sell_opt_out'
  );
}

/**
 * The next move of a stream.
 * @param stream oldest first
 * @param tries the attempts so far, by idempotency key
 * @param now Unix milliseconds
 * @param notBefore time that the service stated to an earlier consent; a withdrawal tries once nevertheless
 */
export function nextMove(
  stream: readonly QueuedConsent[],
  tries: ReadonlyMap<string, Tries>,
  now: number,
  notBefore: number,
): Move {
  const item = headOf(stream, tries);
  if (item === undefined) return null;
  const tried = tries.get(item.idempotency_key);
  if (tried !== undefined && tried.count >= MOST_ATTEMPTS) return null;
  // The service states at most an hour. A stored time beyond that comes from a clock that has been set back since.
  const stated = stream.some(isWithdrawal) || notBefore > now + HOUR_MS ? 0 : notBefore;
  const waitMs = Math.max(tried?.notBefore ?? 0, stated) - now;
  if (waitMs <= 0) return { send: item };
  return waitMs <= LONGEST_WAIT_MS ? { waitMs } : null;
}

/** The first consent of a stream that may be sent. A consent that keeps failing by itself lets the others pass. */
function headOf(stream: readonly QueuedConsent[], tries: ReadonlyMap<string, Tries>): QueuedConsent | undefined {
  return stream.find(({ idempotency_key: key }) => (tries.get(key)?.faults ?? 0) < MOST_FAULTS) ?? stream[0];
}

/**
 * The consents that were overtaken: a later one was accepted first. They must not be recorded any more,
 * because the service would then count them as the later ones. These are choices and withdrawn consents.
 * @param items oldest first, with the accepted one
 */
export function passedBy(accepted: QueuedConsent, items: readonly QueuedConsent[]): readonly QueuedConsent[] {
  const stream = items.filter((item) => streamOf(item) === streamOf(accepted));
  const isLast = isWithdrawal(accepted) || sentOf(accepted)?.consent_type === 'cookie';
  return isLast
    ? stream.slice(
        0,
        stream.findIndex((item) => item.idempotency_key === accepted.idempotency_key),
      )
    : [];
}

/**
 * Whether the service may have forgotten the key of a consent, which it remembers for 24 hours. The response may have
 * been lost before this page, so the service is asked first.
 */
export function isOld({ queued_at }: QueuedConsent, now: number): boolean {
  const age = now - queued_at;
  return age > HOUR_MS || age < -MINUTE_MS;
}

/** The part of a consent in force that the SDK reads. */
export type InForce = Pick<Acceptance, 'consent_token' | 'proof_hash' | 'created_at'> & {
  readonly decision: string;
  readonly categories: Record<string, boolean> | null;
  readonly services?: Record<string, boolean> | null | undefined;
  /** Former tool of an imported consent. Null or absent if the consent was recorded here. */
  readonly imported_from?: string | null | undefined;
};
export const isStatus = objectOf<{ consents: InForce[] }>({
  consents: listOf(
    objectOf<InForce>({
      consent_token: isText,
      proof_hash: isText,
      created_at: isText,
      decision: isText,
      categories: nullable(areAnswers),
      services: optional(nullable(areAnswers)),
      imported_from: optional(nullable(isText)),
    }),
  ),
});

/**
 * Finds the record of a consent whose answer was lost: the newest record, if its content is the same, it
 * is not older, and the page does not know it. An older record with the same content belongs to an
 * earlier choice, since a stream is sent in order. An imported one is not what this page sent, although it may have
 * been recorded meanwhile.
 * @param consents the consents in force of the same person, kind and document version, newest first
 */
export function recordedAs(
  item: QueuedConsent,
  [newest]: readonly InForce[],
  records: readonly Pick<InForce, 'consent_token'>[],
): Acceptance | null {
  const sent = sentOf(item);
  const isSame =
    newest !== undefined &&
    newest.imported_from == null &&
    sent !== undefined &&
    newest.decision === sent.decision &&
    Date.parse(newest.created_at) > item.queued_at - MINUTE_MS &&
    !someAnswer(sent, (isOn, kind, key) => (newest[kind]?.[key] ?? isOn) !== isOn) &&
    !records.some(({ consent_token }) => consent_token === newest.consent_token);
  return isSame ? { ...newest, duplicate: true, promise: null } : null;
}
