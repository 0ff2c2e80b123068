import type { TimestampReport } from '../../schemas/rfc3161/report.js';
import type { AnswerCache } from './answer-cache.js';
import type { Fetch } from './http.js';
import type { StampHash } from './requests.js';

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
  /** Calls `ask`, which asks one authority for a time-stamp, once: for metrics and traces. */
  readonly observe?: ObserveAsking;
}

/** @param authority its host name, and its port if that is not the scheme's: a whole URL may hold a secret */
export type ObserveAsking = <T>(authority: string, ask: () => Promise<T>) => Promise<T>;

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

/** The options with their defaults filled in, and what one client's stamps share. */
export interface Context extends TimestampClientOptions {
  readonly clock: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly cache: AnswerCache;
}
