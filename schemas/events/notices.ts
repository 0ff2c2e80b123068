import * as z from 'zod';
import { Instant, Sha256Hex, Uuid } from '../evidence/primitives.js';
import { Language } from './site-config.js';

export const DOCUMENT_VERSION_PUBLISHED = 'DocumentVersionPublished.v1';
export const DOCUMENT_VERSION_ACTIVATED = 'DocumentVersionActivated.v1';
export const DOCUMENT_VERSION_RETIRED = 'DocumentVersionRetired.v1';

export const DOCUMENT_KINDS = [
  'cookie_policy',
  'privacy_notice',
  'terms',
  'consent_form',
  'do_not_sell',
  'other',
] as const;

/** A text that people are asked to consent to. Published once, it can never change. */
export const DocumentVersionPublishedRecord = z.strictObject({
  v: z.literal(1),
  event_id: Uuid,
  site_id: Uuid,
  created_at: Instant,
  document_id: Uuid,
  document_version_id: Uuid,
  slug: z
    .string()
    .regex(
      /^[a-z0-9](?:[a-z0-9-]{0,78}[a-z0-9])?$/,
      'must be 1 to 80 lower-case letters, digits and inner hyphens, for example cookie-policy',
    ),
  kind: z.enum(DOCUMENT_KINDS),
  title: z.string().min(1).max(300),
  language: Language,
  /** Number of the version within its document and language, from 1. */
  number: z.int().min(1),
  media_type: z.string().min(3).max(100),
  /**
   * Hash of the UTF-8 of the string in the response's `content`; for a binary media type, of the bytes
   * that its base64 decodes to.
   */
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

/** Body of every sealed event without personal data: its public part alone, as JCS text. */
export const PublicEventBody = z.strictObject({ record: z.string() });
export type PublicEventBody = z.infer<typeof PublicEventBody>;
