import * as z from 'zod';
import { Sha256Hex, Uuid } from '../../evidence/primitives.js';
import { displayName, Timestamp } from './common.js';

export const SiteName = displayName(300).min(1);

/** Longest domain: a DNS name has 253 characters, of which the prefix `_consent-ledger.` takes 16. */
const MAX_DOMAIN = 237;

/** Two labels or more (RFC 1123 §2.1). */
const LABELS = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** A DNS domain whose owner can be proved, without a trailing dot. */
export const SiteDomain = z
  .string()
  .max(MAX_DOMAIN + 1)
  .toLowerCase()
  .overwrite((text) => text.replace(/\.$/, ''))
  .max(MAX_DOMAIN)
  .regex(LABELS, 'must be a domain, for example shop.example')
  .refine((domain) => !domain.endsWith('.localhost'), 'must be a domain of the public DNS, not below localhost')
  // As in URLs (WHATWG URL §3.5), a name that ends in a number is an IPv4 address or invalid.
  .refine((domain) => !/\.(?:[0-9]+|0x[0-9a-f]*)$/.test(domain), 'must be a domain, not an IP address');

/**
 * Returns whether a text is an origin as browsers send it (RFC 6454 §6.1). Web views of apps send schemes other than
 * http, for which `URL` has no origin (`capacitor://localhost`).
 */
function isOrigin(text: string): boolean {
  if (/^https?:/.test(text)) return URL.canParse(text) && new URL(text).origin === text;
  return /^(?!file:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/.test(text);
}

export const AllowedOrigins = z
  .array(
    z
      .string()
      .max(300)
      .refine(isOrigin, { error: 'must be an origin, for example https://example.org or capacitor://localhost' }),
  )
  .max(100);

/** Addresses and ranges of IPv4 and IPv6. */
export const AllowedIps = z
  .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: 'must be an IP address or a CIDR range' }))
  .max(1000);

/** Ways in which a tenant proves a domain itself. */
export const PROOF_KINDS = ['dns', 'file', 'meta'] as const;

export const VerifyDomainRequest = z
  .strictObject({
    by: z.enum(PROOF_KINDS).default('dns').describe('What to look for.'),
  })
  .optional();

const ORIGINS =
  'Origins whose browsers may use the API keys, as browsers write them (`https://shop.example`, `capacitor://localhost`). If empty, every origin may.';
const ADDRESSES =
  'IPv4 and IPv6 addresses and ranges (`192.0.2.0/24`; the bits after the prefix are zero) that may use the API keys. If empty, every address may.';

/** Time after which a record is erased, in days. */
const RetentionDays = z.int().min(1).max(36_500);

/** When records of a site are erased without a request: each rule is a column of `sites`. */
export const RetentionRules = z.strictObject({
  retention_days: RetentionDays.nullable().describe('Days after which records are erased, or null for never.'),
});
export type RetentionRules = z.infer<typeof RetentionRules>;

/** The proof in force of a domain, as answers show it. */
const ProofState = {
  proof: z
    .enum([...PROOF_KINDS, 'operator'])
    .nullable()
    .describe(
      'How the domain was proved: `file` and `meta` without its subdomains. Null: not, or before kinds were recorded.',
    ),
  proof_failing_since: Timestamp.nullable().describe(
    'Since when the file or tag is missing, or null. After 30 days, scans and publications stop, but never consents.',
  ),
};

export const Site = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    name: z.string().describe('Name that the team chose.'),
    domain: z.string().describe('Domain of the site.'),
    verified_at: Timestamp.nullable().describe(
      'When the domain was verified. While it is null, the Tool API returns 403 SITE_NOT_VERIFIED.',
    ),
    ...ProofState,
    allowed_origins: z
      .array(z.string())
      .describe('Origins whose browsers may use the API keys. If empty, every origin may.'),
    allowed_ips: z
      .array(z.string())
      .describe('Addresses and ranges that may use the API keys. If empty, every address may.'),
    ...RetentionRules.shape,
    created_at: Timestamp.describe('When it was created.'),
    configuration: z
      .object({
        number: z.int().describe('Number of the version, in the order of publication.'),
        sha256: Sha256Hex.describe('SHA-256, in hex.'),
        domain: z.string().describe('Domain of the site.'),
        controller_legal_name: z.string().describe('Legal name of the controller.'),
        default_language: z.string().describe('Language (BCP 47) for visitors whose language the site does not have.'),
        languages: z.array(z.string()).describe('Languages (BCP 47) of the site.'),
        validity_days: z.int().nullable().describe('Days for which a consent is valid, or null for no limit.'),
      })
      .nullable()
      .describe(
        'Summary of the configuration in force. If none is published, it is null, and consents return 409 CONFIG_OUTDATED.',
      ),
  })
  .meta({ id: 'Site' });
export type Site = z.infer<typeof Site>;

export const CreateSiteRequest = z.strictObject({
  name: SiteName.describe('Name that the team chose.'),
  domain: SiteDomain.describe('Domain of the site.'),
  allowed_origins: AllowedOrigins.default([]).describe(ORIGINS),
  allowed_ips: AllowedIps.default([]).describe(ADDRESSES),
  retention_days: RetentionRules.shape.retention_days.default(null),
});

export const ChangeSiteRequest = z
  .strictObject({
    name: SiteName.describe('Name that the team chose.'),
    domain: SiteDomain.describe('Domain of the site.'),
    allowed_origins: AllowedOrigins.describe(ORIGINS),
    allowed_ips: AllowedIps.describe(ADDRESSES),
  })
  .partial();

export const DomainVerification = z
  .object({
    domain: z.string().describe('Domain of the site.'),
    verified_at: Timestamp.nullable().describe('When the domain was verified, or null if it was not.'),
    ...ProofState,
    dns_record: z
      .object({
        name: z.string().describe('Name of the record.'),
        type: z.literal('TXT').describe('Type of the record.'),
        value: z.string().describe('Value of the record.'),
      })
      .describe('The TXT record to create in the DNS of the domain.'),
    file: z
      .object({ url: z.string().describe('Its address.'), content: z.string().describe('Its whole text.') })
      .describe('Or a file.'),
    meta_tag: z.string().describe('Or a tag in the head of the start page.'),
  })
  .meta({ id: 'DomainVerification' });
