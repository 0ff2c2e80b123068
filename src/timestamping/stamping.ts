import { randomBytes } from 'node:crypto';
import { equalBytes } from '../../schemas/crypto/encoding.js';
import type { TimestampClaims, TimestampInput, TimestampReport } from '../../schemas/rfc3161/report.js';
import { verifyTimestamp } from '../../schemas/rfc3161/verify.js';
import { judgeTime, type StatedTime } from './authorities.js';
import { exchange, type Fetch, HttpFailure } from './http.js';
import { type StampHash, timestampRequest } from './requests.js';
import { type AnswerCache, gatherRevocation } from './revocation.js';

/** One authority returned no valid token. The message states the reason and is safe to log. */
export class AuthorityFailure extends Error {
  override readonly name = 'AuthorityFailure';
}

/** No authority returned a valid token. Retry at `retryAt`. */
export class TimestampUnavailable extends Error {
  override readonly name = 'TimestampUnavailable';
  constructor(
    /** Empty if every authority is paused. */
    readonly failures: readonly { readonly authority: string; readonly reason: string }[],
    readonly retryAt: Date,
  ) {
    const reasons = failures.map(({ authority, reason }) => `${authority} ${reason}`).join('; ');
    super(reasons === '' ? `every authority pauses until ${retryAt.toISOString()}` : `no time stamp: ${reasons}`);
  }
}

/** Options of a time stamp client. */
export interface TimestampClientOptions {
  /** http or https URLs of the authorities, the preferred one first; at least one. */
  readonly authorities: readonly string[];
  /** DER of the trusted certificates. */
  readonly trustAnchors: readonly Uint8Array[];
  /** DER of intermediates, for authorities whose tokens lack them. */
  readonly untrusted?: readonly Uint8Array[];
  /** Dotted OIDs of acceptable policies; the default is any. */
  readonly allowedPolicies?: readonly string[];
  /** Dotted OID of the requested policy; the default is the authority's choice. */
  readonly requestedPolicy?: string;
  /** Hash of the imprint; the default is SHA-256. */
  readonly hash?: StampHash;
  /**
   * Time limit for one exchange with an authority or a revocation source, in milliseconds; the default is 20 s.
   */
  readonly timeoutMs?: number;
  /**
   * The pause after the first failure (default 5 s), which doubles up to the longest (default 10
   * min).
   */
  readonly backOff?: { readonly firstMs: number; readonly longestMs: number };
  readonly clock?: () => Date;
  readonly sleep?: (milliseconds: number) => Promise<void>;
  readonly fetch?: Fetch;
  /** In [0, 1). */
  readonly random?: () => number;
  /** Wraps each request to an authority, for metrics and traces. It must call `ask` once. */
  readonly observe?: ObserveAsking;
}

/**
 * @param authority host name, with the port unless it is the scheme's default: a whole URL may
 *   contain a secret
 */
export type ObserveAsking = <T>(authority: string, ask: () => Promise<T>) => Promise<T>;

/** A verified time stamp. */
export interface ObtainedTimestamp {
  /** DER of the whole TimeStampResp, as received: the content of a `.tsr` file. */
  readonly response: Uint8Array;
  /** URL of the authority. */
  readonly authority: string;
  /** Organization of the trust anchor. Responses with the same organization come from the same authority. */
  readonly organization: string;
  readonly genTime: Date;
  /** The text in the token. */
  readonly genTimeText: string;
  readonly accuracyMicroseconds: number | undefined;
  /** Hexadecimal. */
  readonly serial: string;
  /**
   * Report of the verification with all revocation data. The outcome is `pass`, or `indeterminate`
   * because of revocation only.
   */
  readonly report: TimestampReport;
  /** DER of the chain: the authority's certificate first, the trust anchor last. */
  readonly certificates: readonly Uint8Array[];
  readonly crls: readonly Uint8Array[];
  readonly ocspResponses: readonly Uint8Array[];
  /** Reasons why revocation data is missing, as readable text. Empty if it is complete. */
  readonly gatheringProblems: readonly string[];
}

/** The options with defaults, and the state that one client's requests share. */
export interface Context extends TimestampClientOptions {
  readonly clock: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly cache: AnswerCache;
}

const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_ASKED_AGAIN = 3;
const NONCE_OCTETS = 16;

/**
 * Obtains a time stamp from one authority. It requests a token, verifies it completely, checks its
 * time, and gathers revocation data.
 * @throws AuthorityFailure if the authority returns no valid token
 */
export async function stampWith(
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
    if (attempts === MAX_ASKED_AGAIN) throw new AuthorityFailure('states a time before that of the previous token');
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
      throw new AuthorityFailure('did not answer with a time stamp');
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

/** Adds the revocation data, and refuses a token with a revoked certificate. */
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
  const { organization } = report;
  if (report.outcome === 'fail' || organization === undefined) throw new AuthorityFailure(complaints(report));
  return {
    response,
    authority: url,
    organization,
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
