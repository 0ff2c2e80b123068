import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { equalBytes } from '../../schemas/crypto/encoding.js';
import type { TimestampClaims, TimestampInput, TimestampReport } from '../../schemas/rfc3161/report.js';
import { verifyTimestamp } from '../../schemas/rfc3161/verify.js';
import { judgeTime, type StatedTime } from './acceptance.js';
import { AnswerCache } from './answer-cache.js';
import { type AuthorityHealth, afterFailure, HEALTHY, whomToAsk } from './back-off.js';
import { AuthorityFailure, TimestampUnavailable } from './errors.js';
import { exchange, type Fetch, HttpFailure } from './http.js';
import { type StampHash, timestampRequest } from './requests.js';
import { gatherRevocation } from './revocation-gathering.js';

/** How a client is made. */
export interface TimestampClientOptions {
  /** http or https URLs of the authorities, the preferred one first; at least one. */
  readonly authorities: readonly string[];
  /** DER of the certificates that are trusted. */
  readonly trustAnchors: readonly Uint8Array[];
  /** DER of intermediates, for authorities that do not send them. */
  readonly untrusted?: readonly Uint8Array[];
  /** Dotted OIDs of acceptable policies; any if left out. */
  readonly allowedPolicies?: readonly string[];
  /** Dotted OID of the policy to ask for; the authority's own if left out. */
  readonly requestedPolicy?: string;
  /** Hash of the imprint; SHA-256 unless told. */
  readonly hash?: StampHash;
  /** For one exchange with an authority or a source of revocations; 20 s unless told. */
  readonly timeoutMs?: number;
  /** Pause after a first failure (5 s unless told), doubling up to the longest (10 min unless told). */
  readonly backOff?: { readonly firstMs: number; readonly longestMs: number };
  readonly clock?: () => Date;
  readonly sleep?: (milliseconds: number) => Promise<void>;
  readonly fetch?: Fetch;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** A time-stamp that was obtained and verified. */
export interface ObtainedTimestamp {
  /** DER of the whole TimeStampResp, as received: the content of a `.tsr` file. */
  readonly response: Uint8Array;
  /** URL of the authority that answered. */
  readonly authority: string;
  readonly genTime: Date;
  /** As it stands in the token. */
  readonly genTimeText: string;
  readonly accuracyMicroseconds: number | undefined;
  /** Hexadecimal. */
  readonly serial: string;
  /** Of the verification with everything gathered; its outcome is `pass`, or `indeterminate` for revocation alone. */
  readonly report: TimestampReport;
  /** DER of the chain: the authority's certificate first, the trust anchor last. */
  readonly certificates: readonly Uint8Array[];
  readonly crls: readonly Uint8Array[];
  readonly ocspResponses: readonly Uint8Array[];
  /** Why revocation answers could not be had, in words; empty if all was well. */
  readonly gatheringProblems: readonly string[];
}

export interface TimestampClient {
  /**
   * Obtains a time-stamp over some bytes from the first authority that gives a good one.
   *
   * @param data the exact bytes to stamp; may be empty
   * @param options.previous the newest token already held: the new one must not be before it
   * @throws TimestampUnavailable if no authority gave a good token, or none may be asked yet
   */
  stamp(
    data: Uint8Array,
    options?: { readonly previous?: StatedTime; readonly signal?: AbortSignal },
  ): Promise<ObtainedTimestamp>;
}

const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_ASKED_AGAIN = 3;
const NONCE_OCTETS = 16;

/**
 * Makes a client of time-stamping authorities (RFC 3161 over HTTP, §3.4). It remembers which of them failed, and keeps
 * revocation answers for a while; both in memory only.
 */
export function createTimestampClient(options: TimestampClientOptions): TimestampClient {
  const {
    authorities,
    backOff = { firstMs: 5000, longestMs: 600_000 },
    clock = () => new Date(),
    sleep = async (milliseconds) => delay(milliseconds),
    fetch = globalThis.fetch,
    random = Math.random,
    timeoutMs = 20_000,
  } = options;
  if (authorities.length === 0) throw new TypeError('a time-stamp client needs at least one authority');
  const health = new Map<string, AuthorityHealth>();
  const cache = new AnswerCache(64, 32 * 1024 * 1024);
  const context: Context = { ...options, clock, sleep, fetch, timeoutMs, cache };

  return {
    async stamp(data, { previous, signal } = {}) {
      const known = authorities.map((url) => ({ url, health: health.get(url) ?? HEALTHY }));
      const { ask, nextAt } = whomToAsk(known, clock().getTime());
      const failures: { authority: string; reason: string }[] = [];
      for (const { url, health: before } of ask) {
        signal?.throwIfAborted();
        try {
          const stamp = await stampWith(url, data, previous, signal, context);
          health.delete(url);
          return stamp;
        } catch (error) {
          if (!(error instanceof AuthorityFailure)) throw error;
          failures.push({ authority: url, reason: error.message });
          health.set(url, afterFailure(before, clock().getTime(), backOff, random()));
        }
      }
      const states = authorities.map((url) => ({ health: health.get(url) ?? HEALTHY }));
      const retryAt = nextAt ?? whomToAsk(states, clock().getTime()).nextAt ?? clock().getTime();
      throw new TimestampUnavailable(failures, new Date(retryAt));
    },
  };
}

interface Context extends TimestampClientOptions {
  readonly clock: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly cache: AnswerCache;
}

async function stampWith(
  url: string,
  data: Uint8Array,
  previous: StatedTime | undefined,
  signal: AbortSignal | undefined,
  context: Context,
): Promise<ObtainedTimestamp> {
  for (let attempts = 1; ; attempts += 1) {
    const sent = context.clock();
    const nonce = new Uint8Array(randomBytes(NONCE_OCTETS));
    const response = await request(url, data, nonce, signal, context);
    const input = verificationInput(response, data, nonce, context);
    const report = await verifyTimestamp({ ...input, revocation: 'ignore' });
    const { claims } = report;
    if (report.outcome !== 'pass' || claims === undefined) throw new AuthorityFailure(complaints(report));
    const judgement = judgeTime(claims, previous, sent, context.clock());
    if (judgement.verdict === 'accept') return complete(url, response, input, report, claims, signal, context);
    if (judgement.verdict === 'refuse') throw new AuthorityFailure(judgement.reason);
    if (attempts === MAX_ASKED_AGAIN) throw new AuthorityFailure('its time lies before that of the previous token');
    await context.sleep(judgement.pauseMs);
  }
}

async function request(
  url: string,
  data: Uint8Array,
  nonce: Uint8Array,
  signal: AbortSignal | undefined,
  { fetch, timeoutMs, hash = 'sha256', requestedPolicy }: Context,
): Promise<Uint8Array> {
  try {
    const { body, contentType } = await exchange(fetch, {
      url,
      method: 'POST',
      body: timestampRequest(data, hash, nonce, requestedPolicy),
      headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
      timeoutMs,
      maxBytes: MAX_RESPONSE_BYTES,
      ...(signal && { signal }),
    });
    if (contentType !== 'application/timestamp-reply') {
      throw new AuthorityFailure('answered with something else than a time-stamp');
    }
    return body;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof HttpFailure) throw new AuthorityFailure(error.message, { cause: error });
    throw error;
  }
}

function verificationInput(
  token: Uint8Array,
  data: Uint8Array,
  nonce: Uint8Array,
  { trustAnchors, untrusted, allowedPolicies, requestedPolicy, clock }: Context,
): Omit<TimestampInput, 'revocation'> {
  const policies = allowedPolicies ?? (requestedPolicy === undefined ? undefined : [requestedPolicy]);
  return {
    token,
    stamped: { data },
    trustAnchors,
    at: clock(),
    expectedNonce: nonce,
    ...(untrusted && { untrusted }),
    ...(policies && { allowedPolicies: policies }),
  };
}

/** Adds what the chain's sources say about revocation. A token whose chain was revoked is none. */
async function complete(
  url: string,
  response: Uint8Array,
  input: Omit<TimestampInput, 'revocation'>,
  first: TimestampReport,
  claims: TimestampClaims,
  signal: AbortSignal | undefined,
  context: Context,
): Promise<ObtainedTimestamp> {
  const certificates = first.chainCertificates;
  const gathered = await gatherRevocation(certificates, { ...context, ...(signal && { signal }) });
  const { crls, ocspResponses, problems } = gathered;
  const report = await verifyTimestamp({ ...input, crls, ocspResponses, revocation: 'require' });
  if (report.outcome === 'fail') throw new AuthorityFailure(complaints(report));
  return {
    response,
    authority: url,
    genTime: claims.genTime,
    genTimeText: claims.genTimeText,
    accuracyMicroseconds: claims.accuracyMicroseconds,
    serial: claims.serial,
    report,
    certificates,
    crls: withoutCopies(crls),
    ocspResponses: withoutCopies(ocspResponses),
    gatheringProblems: problems,
  };
}

function complaints({ checks }: TimestampReport): string {
  const bad = checks.filter(({ outcome }) => outcome === 'fail');
  const shown = bad.length > 0 ? bad : checks.filter(({ outcome }) => outcome === 'indeterminate');
  return shown.map(({ id, message }) => `${id}: ${message}`).join('; ');
}

function withoutCopies(items: readonly Uint8Array[]): Uint8Array[] {
  return items.filter((item, index) => items.findIndex((other) => equalBytes(other, item)) === index);
}
