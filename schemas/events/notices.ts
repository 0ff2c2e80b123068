import { z } from 'zod';
import { Instant, Sha256Hex, Uuid } from '../evidence/primitives.js';

export const DOCUMENT_VERSION_PUBLISHED = 'DocumentVersionPublished.v1';
export const DOCUMENT_VERSION_ACTIVATED = 'DocumentVersionActivated.v1';
export const DOCUMENT_VERSION_RETIRED = 'DocumentVersionRetired.v1';
export const SITE_CONFIG_PUBLISHED = 'SiteConfigPublished.v1';

export const DOCUMENT_KINDS = [
  'cookie_policy',
  'privacy_notice',
  'terms',
  'consent_form',
  'do_not_sell',
  'other',
] as const;

const Language = z
  .string()
  .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/)
  .max(35);
const ByLanguage = z.record(Language, z.string().max(10_000));

/** A text that people are asked to consent to. Published once, it can never change. */
export const DocumentVersionPublishedRecord = z.strictObject({
  v: z.literal(1),
  event_id: Uuid,
  site_id: Uuid,
  created_at: Instant,
  document_id: Uuid,
  document_version_id: Uuid,
  slug: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,78}[a-z0-9])?$/),
  kind: z.enum(DOCUMENT_KINDS),
  title: z.string().min(1).max(300),
  language: Language,
  /** Number of the version within its document and language, from 1. */
  number: z.int().min(1),
  media_type: z.string().min(3).max(100),
  /** Of the UTF-8 of the string in the response's `content`; for a binary media type, of the bytes that its base64 decodes to. */
  content_sha256: Sha256Hex,
  requires_approval_token: z.boolean(),
});
export type DocumentVersionPublishedRecord = z.infer<typeof DocumentVersionPublishedRecord>;

/** From here on consents may name this version (activated), or no longer (retired). */
export const DocumentVersionStateRecord = z.strictObject({
  v: z.literal(1),
  event_id: Uuid,
  site_id: Uuid,
  created_at: Instant,
  document_id: Uuid,
  document_version_id: Uuid,
});
export type DocumentVersionStateRecord = z.infer<typeof DocumentVersionStateRecord>;

/** A category of processing that a person may accept or reject, with what ISO/IEC TS 27560 asks of a consent record. */
export const ConsentCategory = z.strictObject({
  key: z.string().regex(/^[a-z0-9_-]{1,50}$/),
  required: z.boolean(),
  title: ByLanguage,
  purpose: ByLanguage,
  lawful_basis: z.enum(['consent', 'contract', 'legal_obligation', 'legitimate_interest']),
  personal_data: z.array(z.string().max(200)).max(50),
  recipients: z.array(z.string().max(200)).max(50),
  retention_days: z.int().min(1).nullable(),
});

/** What a site shows and who answers for it. Its JCS text is what `site_config_hash` of a record is over. */
export const SiteConfigPublishedRecord = z.strictObject({
  v: z.literal(1),
  event_id: Uuid,
  site_id: Uuid,
  created_at: Instant,
  number: z.int().min(1),
  domain: z.string().min(1).max(253),
  controller: z.strictObject({
    legal_name: z.string().min(1).max(300),
    contact: z.string().min(1).max(500),
  }),
  default_language: Language,
  languages: z.array(Language).min(1).max(50),
  /** Days after which a consent expires; null: never. */
  validity_days: z.int().min(1).max(36_500).nullable(),
  banner: z.record(Language, z.record(z.string().max(50), z.string().max(10_000))),
  /** How consent is withdrawn, in each language. */
  withdrawal: ByLanguage,
  categories: z.array(ConsentCategory).max(100),
});
export type SiteConfigPublishedRecord = z.infer<typeof SiteConfigPublishedRecord>;

/** Body of every sealed event without personal data: its public part alone, as JCS text. */
export const PublicEventBody = z.strictObject({ record: z.string() });
export type PublicEventBody = z.infer<typeof PublicEventBody>;
