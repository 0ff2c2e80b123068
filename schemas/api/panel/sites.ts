import { z } from 'zod';
import { Sha256Hex, Uuid } from '../../evidence/primitives.js';
import { Timestamp } from './common.js';

export const SiteName = z.string().trim().min(1).max(300);
export const SiteDomain = z.hostname().max(253).toLowerCase();

export const AllowedOrigins = z
  .array(
    z
      .string()
      .max(300)
      .refine((text) => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text, {
        error: 'must be an origin like https://example.org',
      }),
  )
  .max(100);

/** Addresses and ranges of IPv4 and IPv6. */
export const AllowedIps = z
  .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: 'must be an IP address or a CIDR range' }))
  .max(1000);

/** Days after which a record is erased. */
export const RetentionDays = z.int().min(1).max(36_500);

export const Site = z.object({
  id: Uuid,
  name: z.string(),
  domain: z.string(),
  /** Null: not verified; the Tool API answers 403 SITE_NOT_VERIFIED. */
  verified_at: Timestamp.nullable(),
  /** Origins whose browsers may use the API keys; empty: every origin. */
  allowed_origins: z.array(z.string()),
  /** Addresses and ranges that may use the API keys; empty: every address. */
  allowed_ips: z.array(z.string()),
  /** Days after which records are erased; null: never. */
  retention_days: z.int().nullable(),
  created_at: Timestamp,
  /** What the configuration in force says; null: none is published, and consents are answered 409 CONFIG_OUTDATED. */
  configuration: z
    .object({
      number: z.int(),
      sha256: Sha256Hex,
      domain: z.string(),
      controller_legal_name: z.string(),
      default_language: z.string(),
      languages: z.array(z.string()),
      validity_days: z.int().nullable(),
    })
    .nullable(),
});
export type Site = z.infer<typeof Site>;

export const CreateSiteRequest = z.strictObject({
  name: SiteName,
  domain: SiteDomain,
  allowed_origins: AllowedOrigins.default([]),
  allowed_ips: AllowedIps.default([]),
  retention_days: RetentionDays.nullable().default(null),
});

export const ChangeSiteRequest = z
  .strictObject({
    name: SiteName,
    domain: SiteDomain,
    allowed_origins: AllowedOrigins,
    allowed_ips: AllowedIps,
    retention_days: RetentionDays.nullable(),
  })
  .partial();

export const DomainVerification = z.object({
  domain: z.string(),
  verified_at: Timestamp.nullable(),
  /** The TXT record to make in the domain's DNS. */
  dns_record: z.object({ name: z.string(), type: z.literal('TXT'), value: z.string() }),
});
