import type { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import type { ApiKey } from '../api-keys/api-key.js';

/** All that judging a request needs of the site behind an API key, as of one `configRevision`. */
export interface SiteContext {
  readonly siteId: string;
  readonly tenantId: string;
  readonly domain: string;
  readonly isVerified: boolean;
  /** Empty: every origin. */
  readonly allowedOrigins: readonly string[];
  /** CIDRs. Empty: every address. */
  readonly allowedIps: readonly string[];
  /** Grows with every change of site, keys, plan, documents or configuration. Admission refuses to judge by an older one. */
  readonly configRevision: number;
  /** Null: no configuration published yet; consents are answered with CONFIG_OUTDATED. */
  readonly config: { readonly sha256: string; readonly record: SiteConfigPublishedRecord } | null;
  readonly plan: Plan;
  /** Active versions by id. */
  readonly activeVersions: ReadonlyMap<string, ActiveVersion>;
  /** The tenant's current key for proof hashes. */
  readonly proofKey: { readonly id: string; readonly key: Uint8Array };
  /** What record keys and blind indexes of the site are made from. */
  readonly siteKey: Uint8Array;
}

export interface Plan {
  readonly name: string;
  readonly isActive: boolean;
  readonly rateLimitPerMinute: number;
  /** Consents a calendar month (UTC); null: no limit. */
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
 * Sites and API keys, cached in memory. The cache is only a help: admission compares `configRevision` with the database's in its transaction, and
 * asks for `refresh` when it is behind.
 */
export interface SiteDirectory {
  /** @returns null for unknown and revoked keys */
  findApiKey(key: string): Promise<ApiKey | null>;
  /** @returns the site as of the last look, at most a second old */
  site(siteId: string): Promise<SiteContext>;
  /** Reads the site from the database again. */
  refresh(siteId: string): Promise<SiteContext>;
}
