import * as z from 'zod';
import { COMPLIANCE_FRAMEWORKS, DECISIONS, SCOPES } from '../events/consent-recorded.js';
import { DocumentVersionPublishedRecord } from '../events/notices.js';
import { Instant, Sha256Hex, Uuid } from '../evidence/primitives.js';
import { InputUuid } from './common.js';
import { DecidedCategories, DecidedServices } from './decided.js';
import { STATED_ORIGIN } from './stated-origin.js';
import { TEST_MEMBER } from './test-mark.js';

export const MAX_STATUS_ITEMS = 20;

export const StatusQuery = z.object({
  visitor_id: z.string().min(1).max(100).describe('The `visitor_id` with which the consents were recorded.'),
  consent_type: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,50}$/)
    .optional()
    .describe('Only consents of this kind.'),
  document_slug: DocumentVersionPublishedRecord.shape.slug.optional().describe('Only consents to this document.'),
  document_version_id: InputUuid.optional().describe('Only consents to this document version.'),
});
export type StatusQuery = z.infer<typeof StatusQuery>;

/** One consent in force. No field is personal, because keys in browsers can read this. */
export const StatusItem = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    consent_token: z.string().describe('Identifier of the record, for the person and for verification.'),
    proof_hash: Sha256Hex.describe('HMAC-SHA256 of the record, in hex.'),
    consent_type: z.string().describe('Kind of the consent, for example `cookie`.'),
    decision: z.enum(DECISIONS).describe('Decision of the person. `partial`: some of the categories.'),
    categories: DecidedCategories,
    services: DecidedServices,
    language: z.string().describe('Language (BCP 47).'),
    document_slug: z.string().nullable().describe('Slug of the document, or null if the service does not know it.'),
    document_version_id: Uuid.describe('The version of the document that the person was shown.'),
    compliance_framework: z
      .enum(COMPLIANCE_FRAMEWORKS)
      .nullable()
      .describe('Law under which the person was asked, or null if not known.'),
    created_at: Instant.describe('When the consent was recorded.'),
    valid_until: Instant.nullable().describe('Until when the consent is valid, or null for no limit.'),
    ask_again_at: Instant.nullable().describe('When a person who refused may be asked again; null: not stated.'),
    scope: z.enum(SCOPES).describe('`account`: for all devices of a person for whom a backend vouches; else `device`.'),
    asked: z
      .array(z.array(z.string()))
      .optional()
      .describe(
        'What the person was asked for, by the configuration and the rule of the record: first the optional categories, purposes and special features, then who receives data. Only with `X-Person-Token`.',
      ),
    exempt: z
      .array(z.string())
      .optional()
      .describe('Keys of the categories that were exempt from consent by that rule. Only with `X-Person-Token`.'),
    ...STATED_ORIGIN,
  })
  .meta({ id: 'StatusItem' });
export type StatusItem = z.infer<typeof StatusItem>;

/** GET /tool/v1/consents/status: the newest first, and imported ones after all others (docs/import.md). */
export const StatusResponse = z
  .object({
    data: z
      .object({
        consents: z.array(StatusItem).max(MAX_STATUS_ITEMS).describe('The consents of the visitor that are in force.'),
      })
      .describe('The result.'),
    ...TEST_MEMBER,
  })
  .meta({ id: 'StatusResponse' });
export type StatusResponse = z.infer<typeof StatusResponse>;
