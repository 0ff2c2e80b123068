import * as z from 'zod';
import { IMPORT_CHANNEL, ImportOrigin } from '../events/consent-imported.js';
import { CHANNELS, ConsentRecordV2, RuleId, SCOPES } from '../events/consent-recorded.js';
import { DocumentVersionPublishedRecord } from '../events/notices.js';
import { ATTACHMENT_NAMES } from '../evidence/disclosed-values.js';
import { AttachmentReference } from '../evidence/disclosure.js';
import { Instant, Sha256Hex, Uuid } from '../evidence/primitives.js';
import { localeOf } from '../language/language-tag.js';
import { CANONICAL_DIGITS, InputTime, InputUuid, numberInUrl } from './common.js';
import { CONSENT_LIMITS } from './consent-limits.js';
import { S2sConsentRequest } from './consents.js';
import { DecidedServices } from './decided.js';
import { TEST_MEMBER } from './test-mark.js';

/** Maximum number of records of a page of JSON. NDJSON and CSV have no limit. */
export const MAX_EXPORT_PAGE = 1000;
export const DEFAULT_EXPORT_PAGE = 100;
/** Maximum number of rows of a Parquet file; it has fewer if they are large. */
export const MAX_PARQUET_ROWS = 20_000;

export const EXPORT_FORMATS = ['json', 'ndjson', 'csv', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const NDJSON_MEDIA_TYPE = 'application/x-ndjson';
export const CSV_MEDIA_TYPE = 'text/csv';
export const PARQUET_MEDIA_TYPE = 'application/vnd.apache.parquet';

/** A large content of a record. Its text or base64 is in the field in which it was sent. */
export const ExportedAttachment = AttachmentReference.extend({
  field: z.enum(ATTACHMENT_NAMES).describe('Field of the consent that has the content.'),
  encoding: z.enum(['utf-8', 'base64']).describe('How the field contains the content.'),
}).meta({ id: 'ExportedAttachment' });
export type ExportedAttachment = z.infer<typeof ExportedAttachment>;

/** Routes by which consents arrived, including imports. */
export const SHOWN_CHANNELS = [...CHANNELS, IMPORT_CHANNEL] as const;

/** The public part of a consent, recorded here or imported, as responses show it. */
export const PublicPart = z.object({
  ...ConsentRecordV2.omit({ v: true, event_id: true, disclosures: true }).shape,
  services: DecidedServices,
  ask_again_at: Instant.nullable().describe('When a person who refused may be asked again; null: not stated.'),
  rule_id: RuleId.nullable().describe('The rule by which the person was asked; null: none.'),
  scope: z.enum(SCOPES).describe('`account`: for all devices of a person for whom a backend vouches; else `device`.'),
  channel: z
    .enum(SHOWN_CHANNELS)
    .describe(
      '`browser`: stated by an anonymous browser; `s2s`: by a backend of the tenant; `import`: by a former tool.',
    ),
  api_key_id: Uuid.nullable().describe('The API key that recorded it, or null if it was imported.'),
  import: ImportOrigin.nullish().describe('Origin of an imported consent.'),
});

/**
 * Personal values that the caller or the connection supplied with the consent. A field is null if
 * no value was supplied, or if the record is erased.
 */
const PersonalPart = S2sConsentRequest.omit({
  consent_type: true,
  decision: true,
  document_version_id: true,
  language: true,
  categories: true,
  services: true,
  compliance_framework: true,
  rule_id: true,
  scope: true,
  approval_token: true,
  person_token: true,
})
  .required()
  .extend({
    source_record_id: z.string().nullable().describe('Id of the record at the tool that it was imported from.'),
  });

/** Names of the fields that an erasure removes. */
export const PERSONAL_FIELDS: readonly string[] = Object.keys(PersonalPart.shape);

/** Name of a personal field of a record. */
export const PersonalField = z.enum(PERSONAL_FIELDS);

/** A consent record with every field, as it was recorded. */
export const ExportedConsent = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    consent_token: z.string().describe('Identifier of the record, for the person and for verification.'),
    proof_hash: Sha256Hex.describe('HMAC-SHA256 of the record, in hex.'),
    ...PublicPart.shape,
    import: ImportOrigin.nullable().describe('Origin of an imported consent; null: recorded here.'),
    document_slug: z.string().nullable().describe('Slug of the document, or null if the service does not know it.'),
    is_anonymized: z.boolean().describe('Whether the personal values of the record were erased.'),
    ...PersonalPart.shape,
    attachments: z.array(ExportedAttachment).describe('Signature picture and custom document of the record.'),
    cursor: z.string().describe('An export with this cursor continues after this record.'),
  })
  .meta({ id: 'ExportedConsent' });
export type ExportedConsent = z.infer<typeof ExportedConsent>;

/** Names of the fields of a record. */
export const EXPORTED_FIELDS: readonly string[] = Object.keys(ExportedConsent.shape);
const ExportedField = ExportedConsent.keyof();

/**
 * GET /tool/v1/s2s/consents/export. A parameter of another name is an error: a misspelt filter must
 * not export everything.
 */
export const ExportQuery = z
  .strictObject({
    visitor_id: z.string().min(1).max(CONSENT_LIMITS.visitorId).optional().describe('Only records of this person.'),
    consent_type: ConsentRecordV2.shape.consent_type.optional().describe('Only records of this kind.'),
    document_slug: DocumentVersionPublishedRecord.shape.slug
      .optional()
      .describe('Only records that refer to this document; one that the site does not have is refused.'),
    document_version_id: InputUuid.optional().describe(
      'Only records that refer to this document version; one that the site does not have is refused.',
    ),
    from: InputTime.optional().describe('Only records with `created_at` at or after this time.'),
    to: InputTime.optional().describe('Only records with `created_at` before this time. It must be after `from`.'),
    limit: numberInUrl(1, 999_999_999, 'must be a whole number of at least 1', CANONICAL_DIGITS)
      .optional()
      .describe(
        'Most records of the response. JSON: at most 1,000, and 100 if absent; Parquet: required, at most 20,000.',
      ),
    cursor: z
      .string()
      .max(100)
      .optional()
      .describe('`next_cursor` of a page, or `cursor` of the last record that was received.'),
    include_erasures: z
      .enum(['true', 'false'])
      .transform((value) => value === 'true')
      .optional()
      .describe('Also a line for each erasure that was announced, whatever the filters: see ExportedItem.'),
    fields: z
      .string()
      .max(2000)
      .transform((text) => text.split(','))
      .pipe(z.array(ExportedField).refine((names) => new Set(names).size === names.length, 'must name each field once'))
      .optional()
      .describe(
        'Names of fields of ExportedItem, separated by commas, each once: records have these alone, and `cursor`. All if absent.',
      ),
    format: z.enum(EXPORT_FORMATS).optional().describe('Format of the response; overrides the header Accept.'),
    excel: z
      .string()
      .refine((text) => localeOf(text) !== undefined, 'must be a language tag, such as tr-TR')
      .optional()
      .describe(
        'CSV for Excel with this language tag, such as `tr-TR`: a byte-order mark, and the separator that it expects there. Only with `format=csv`.',
      ),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    path: ['to'],
    error: 'must be after from',
  });
export type ExportQuery = z.infer<typeof ExportQuery>;

/** An erasure, after which a copy of the record must delete its personal values. */
export const ExportedErasure = z
  .object({
    erased_record: z
      .object({
        id: Uuid.describe('Id of the erased record.'),
        consent_token: z.string().describe('Identifier of the record, for the person and for verification.'),
      })
      .describe('The record whose personal values were erased.'),
    announced_at: Instant.describe('When the erasure was announced in the log.'),
    cursor: z.string().describe('A list or export with this cursor continues after this erasure.'),
  })
  .meta({ id: 'ExportedErasure' });
export type ExportedErasure = z.infer<typeof ExportedErasure>;

/** GET /tool/v1/s2s/erasures. */
export const ErasureListQuery = z.strictObject({
  limit: numberInUrl(1, MAX_EXPORT_PAGE, 'must be a whole number from 1 to 1000', CANONICAL_DIGITS)
    .optional()
    .describe('Most erasures of the response; 100 if absent.'),
  cursor: ExportQuery.shape.cursor.describe(
    '`next_cursor` of a page, or `cursor` of the last erasure that was received.',
  ),
});
export type ErasureListQuery = z.infer<typeof ErasureListQuery>;

export const ErasureListResponse = z
  .object({
    data: z.array(ExportedErasure).describe('The result.'),
    next_cursor: z.string().nullable().describe('Cursor of the next page, or null on the last page.'),
    ...TEST_MEMBER,
  })
  .meta({ id: 'ErasureListResponse' });
export type ErasureListResponse = z.infer<typeof ErasureListResponse>;

/** A record of an export that chose `fields`. */
export const ExportedFields = ExportedConsent.partial()
  .required({ cursor: true })
  .meta({ id: 'ExportedFields', description: 'The fields of a record that `fields` names, and its `cursor`.' });
export type ExportedFields = z.infer<typeof ExportedFields>;

const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item).describe('The result.'),
    next_cursor: z.string().nullable().describe('Cursor of the next page, or null on the last page.'),
    ...TEST_MEMBER,
  });

/** A page of records with every field. */
export const FullExportResponse = pageOf(z.union([ExportedConsent, ExportedErasure]));
/** A page of records with chosen fields. */
export const FieldsExportResponse = pageOf(z.union([ExportedErasure, ExportedFields]));

/**
 * What a JSON page can contain, for client generators: a single schema, because no member distinguishes the variants.
 */
const ExportedItem = ExportedFields.extend({
  erased_record: ExportedErasure.shape.erased_record.optional(),
  announced_at: ExportedErasure.shape.announced_at.optional(),
}).meta({
  id: 'ExportedItem',
  description:
    'A record with every field, or with those that `fields` names. With `include_erasures` also an erasure, which has `erased_record`, `announced_at` and `cursor`, and nothing else.',
});

export const ExportResponse = pageOf(ExportedItem).meta({ id: 'ExportResponse' });
export type ExportResponse = z.infer<typeof ExportResponse>;
