import type { TimestampReport } from '../../schemas/rfc3161/report.js';
import type { AnswerCache } from './answer-cache.js';
import type { Fetch } from './http.js';
import type { StampHash } from './requests.js';

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
   * Milliseconds for one exchange with an authority or a revocation source; the default is 20 s.
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
  /** Organization of the trust anchor: responses with equal ones are of one authority. */
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
  /** Reasons why revocation data is missing, as readable text; empty if it is complete. */
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
