import { z } from 'zod';
import { COMPLIANCE_FRAMEWORKS, DECISIONS } from '../events/consent-recorded.js';
import { DocumentVersionPublishedRecord } from '../events/notices.js';
import { Instant, Sha256Hex, Uuid } from '../evidence/primitives.js';

export const MAX_STATUS_ITEMS = 20;

export const StatusQuery = z.object({
  visitor_id: z.string().min(1).max(100).describe('The `visitor_id` with which the consents were recorded.'),
  consent_type: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,50}$/)
    .optional()
    .describe('Only consents of this kind.'),
  document_slug: DocumentVersionPublishedRecord.shape.slug.optional().describe('Only consents to this document.'),
  document_version_id: z
    .string()
    .toLowerCase()
    .pipe(Uuid)
    .optional()
    .describe('Only consents to this document version.'),
});
export type StatusQuery = z.infer<typeof StatusQuery>;

/** One consent in force. No field is personal: the key that reads this sits in browsers. */
export const StatusItem = z
  .object({
    id: Uuid,
    consent_token: z.string(),
    proof_hash: Sha256Hex,
    consent_type: z.string(),
    decision: z.enum(DECISIONS),
    categories: z.record(z.string(), z.boolean()).nullable(),
    language: z.string(),
    document_slug: z.string().nullable(),
    document_version_id: Uuid,
    compliance_framework: z.enum(COMPLIANCE_FRAMEWORKS).nullable(),
    created_at: Instant,
    valid_until: Instant.nullable(),
  })
  .meta({ id: 'StatusItem' });
export type StatusItem = z.infer<typeof StatusItem>;

/** GET /tool/v1/consents/status: the newest first. */
export const StatusResponse = z
  .object({ data: z.object({ consents: z.array(StatusItem).max(MAX_STATUS_ITEMS) }) })
  .meta({ id: 'StatusResponse' });
export type StatusResponse = z.infer<typeof StatusResponse>;
