import type { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import type { Days } from '../../../schemas/law/periods.js';
import type { ApiKey } from '../api-keys/api-keys.js';

/**
 * The route family that a request used. Browsers know the site's API key, so the key alone never
 * makes a request `s2s`: the bearer token does.
 */
export type Channel = 'browser' | 's2s';

/** The client of a Tool API request, as its credentials prove it. Set before the body is read. */
export interface Caller {
  readonly apiKey: ApiKey;
  /** The key itself: request signatures are made with it. Never logged, never stored. */
  readonly rawApiKey: string;
  readonly site: SiteContext;
  readonly channel: Channel;
}

/** The data of a site that the evaluation of a request needs, as of one `configRevision`. */
export interface SiteContext {
  readonly siteId: string;
  readonly tenantId: string;
  readonly domain: string;
  readonly isVerified: boolean;
  /** Whether its proof also covers the subdomains of the domain. */
  readonly coversSubdomains: boolean;
  /** Whether its proof has failed for so long that scans and publications stop. Consents are still recorded. */
  readonly isProofLapsed: boolean;
  /** Empty allows every origin. */
  readonly allowedOrigins: readonly string[];
  /** CIDR ranges. Empty allows every address. */
  readonly allowedIps: readonly string[];
  /**
   * Increases with every change of site, keys, plan, documents or configuration. Admission does not
   * evaluate a request with an older revision.
   */
  readonly configRevision: number;
  /** Null before the first publication: consents are refused with CONFIG_OUTDATED. */
  readonly config: { readonly sha256: string; readonly record: SiteConfigPublishedRecord } | null;
  /** The longest `validity_days` of all configurations that the site has published; null: one of them never ends. */
  readonly longestValidityDays: Days;
  readonly plan: Plan;
  /** Active versions by id. */
  readonly activeVersions: ReadonlyMap<string, ActiveVersion>;
  /** The tenant's current key for proof hashes. */
  readonly proofKey: { readonly id: string; readonly key: Uint8Array };
  /** The key from which the site's record keys and blind indexes are derived. */
  readonly siteKey: Uint8Array;
}

export interface Plan {
  readonly name: string;
  readonly isActive: boolean;
  readonly rateLimitPerMinute: number;
  /** Consents per calendar month (UTC), or null if there is no limit. */
  readonly consentQuota: number | null;
}

export interface ActiveVersion {
  readonly id: string;
  readonly documentId: string;
  readonly slug: string;
  readonly kind: string;
  readonly title: string;
  readonly language: string;
  readonly number: number;
  readonly mediaType: string;
  readonly contentSha256: string;
  readonly requiresApprovalToken: boolean;
}

/**
 * Sites and API keys, cached in memory. The cache is only an optimisation: admission compares
 * `configRevision` with the database in its transaction, and calls `refresh` if the cached site is
 * older.
 */
export interface SiteDirectory {
  /** Finds an API key. @returns null for unknown, revoked and expired keys */
  findApiKey(key: string): Promise<ApiKey | null>;
  /**
   * Finds the site with a verified domain. If there are several, the one that was verified last, because the owner of a
   * domain can change.
   * @param domain the domain in lower case, without a port
   */
  verifiedSite(domain: string): Promise<SiteContext | null>;
  /** Returns the site from the cache, at most one second old. */
  site(siteId: string): Promise<SiteContext>;
  /** Reads the site from the database. */
  refresh(siteId: string): Promise<SiteContext>;
}
