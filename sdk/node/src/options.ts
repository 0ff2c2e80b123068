import type { Credentials } from '../../shared/types.js';

/** Address of the service, credentials of the caller, and limits of requests. */
export interface LedgerOptions {
  /** Origin of the service, for example `https://consent.example.org`. */
  readonly baseUrl: string;
  /** API key of the site, of scope `write`. Keep it out of argument lists, logs and repositories. */
  readonly apiKey: string;
  /** A user with the role `api_user`. Without one, only `ping`, `configuration`, `documents`, `document`, `status` and `verify` work. */
  readonly user?: Credentials | undefined;
  /** Name and version of the calling program for the header `User-Agent`, for example `shop/2.1`. */
  readonly application?: string | undefined;
  /**
   * Whether `record` returns the first acceptance when its idempotency key was used with another consent; if omitted,
   * false.
   */
  readonly acceptsConflicts?: boolean | undefined;
  /**
   * Whether `record` and `recordBatch` throw a TypeError for a member or category that the service does not know,
   * before anything is sent; if omitted, true. If false, the service ignores them, and names them in `warnings`.
   */
  readonly strict?: boolean | undefined;
  /** Attempts of each request, including the first one; if omitted, 5. */
  readonly attempts?: number | undefined;
  /** Milliseconds that an attempt may take; if omitted, 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Longest wait, in milliseconds, that the service may ask for before attempts end; if omitted, 60,000. */
  readonly longestWaitMs?: number | undefined;
  /** Ends requests and waits in progress. */
  readonly signal?: AbortSignal | undefined;
}
