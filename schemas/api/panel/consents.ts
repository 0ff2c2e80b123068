import * as z from 'zod';
import { ConsentRecordV2, DECISIONS } from '../../events/consent-recorded.js';
import { DocumentVersionPublishedRecord } from '../../events/notices.js';
import { Uuid } from '../../evidence/primitives.js';
import { CheckpointLinks } from '../checkpoints.js';
import { InputTime, InputUuid, QueryText } from '../common.js';
import { PersonReference } from '../erasures.js';
import { ExportedAttachment, PERSONAL_FIELDS, PersonalField, PublicPart, SHOWN_CHANNELS } from '../export.js';
import { VerifiedRecord } from '../verify.js';
import { DisclosureReason, dataOf, PageQuery, pageOf, Timestamp } from './common.js';

/** How far a record has come: in the log or on its way there, in a sealed Merkle batch, or covered by a time stamp. */
export const SEALING_STATES = ['recorded', 'sealed', 'stamped'] as const;

const filters = {
  consent_type: ConsentRecordV2.shape.consent_type.optional().describe('Only consents of this kind.'),
  decision: z.enum(DECISIONS).optional().describe('Only consents with this decision.'),
  category: QueryText.min(1).max(50).optional().describe('Only records with a decision on this category.'),
  document_slug: DocumentVersionPublishedRecord.shape.slug.optional().describe('Only consents to this document.'),
  document_version_id: InputUuid.optional().describe('Only consents to this document version.'),
  channel: z.enum(SHOWN_CHANNELS).optional().describe('Only consents of this channel.'),
  from: InputTime.optional().describe('Only records with `created_at` at or after this time.'),
  to: InputTime.optional().describe('Only records with `created_at` before this time.'),
};

const flags = <T extends z.ZodType>(flag: T) => ({
  category_granted: flag.optional().describe('Only records with this decision on `category`, which is required.'),
  is_anonymized: flag.optional().describe('If true, only erased records; if false, only the others.'),
  is_expired: flag.optional().describe('If true, only expired records; if false, only the others.'),
  is_stamped: flag.optional().describe('If true, only records that a time stamp covers; if false, only the others.'),
});

const FlagInQuery = z.enum(['true', 'false']).transform((text) => text === 'true');

interface Dependent {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly category?: string | undefined;
  readonly category_granted?: boolean | undefined;
}
const isOrdered = ({ from, to }: Dependent): boolean =>
  from === undefined || to === undefined || Date.parse(from) < Date.parse(to);
const namesCategory = ({ category, category_granted }: Dependent): boolean =>
  category_granted === undefined || category !== undefined;
const ORDERED = { path: ['to'], error: 'must be after from' };
const WITH_CATEGORY = { path: ['category_granted'], error: 'requires category' };

export const ListConsentsQuery = PageQuery.extend({ ...filters, ...flags(FlagInQuery) })
  .refine(isOrdered, ORDERED)
  .refine(namesCategory, WITH_CATEGORY);

export const SearchConsentsRequest = z
  .strictObject({
    person: PersonReference,
    reason: DisclosureReason,
    ...filters,
    ...flags(z.boolean()),
    limit: z.int().min(1).max(100).default(50).describe('Objects on a page.'),
    cursor: PageQuery.shape.cursor,
  })
  .refine(isOrdered, ORDERED)
  .refine(namesCategory, WITH_CATEGORY);

export type ConsentFilter = Omit<z.infer<typeof SearchConsentsRequest>, 'person' | 'reason'>;

/** The public part of a record, which contains no personal data. */
const PublicRecord = PublicPart.meta({ id: 'PublicRecord' });

const ConsentSummary = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    consent_token: z.string().describe('Identifier of the record, for the person and for verification.'),
    proof_hash: z.string().describe('HMAC-SHA256 of the record, in hex.'),
    record: PublicRecord.nullable().describe(
      'Public part of the record, or null if the stored text is not a valid record.',
    ),
    document_slug: z.string().nullable().describe('Slug of the document, or null if the service does not know it.'),
    is_intact: z
      .boolean()
      .describe(
        'Whether the stored text matches its proof hash and every copy of its members. `verify` also checks the ledger.',
      ),
    is_anonymized: z.boolean().describe('Whether the personal values were erased.'),
    is_expired: z.boolean().describe('Whether `valid_until` has passed.'),
    state: z.enum(SEALING_STATES).describe('Where it stands.'),
    is_development: z.boolean().describe('Whether its time stamp is of the development authority: no evidence.'),
  })
  .meta({ id: 'ConsentSummary' });

/**
 * Newest first. A page may be short or even empty although more follow; only `next_cursor` says whether there are more.
 */
export const ConsentsPage = pageOf(ConsentSummary).meta({ id: 'ConsentsPage' });

const Sealing = z
  .object({
    batch: z.int().nullable().describe('Number of the Merkle batch, or null while the record is in none.'),
    index: z.int().nullable().describe('Position in the batch, from 0, or null if it is in none yet.'),
    sealed_at: Timestamp.nullable().describe('When the batch was sealed, or null if it was not yet.'),
    checkpoint: z
      .object({
        size: z.int().describe('Number of batches that the checkpoint covers.'),
        gen_time: Timestamp.describe('Time in the time stamp.'),
        authorities: z
          .array(z.string())
          .describe('Hosts of the authorities; `development` for the development authority.'),
        ...CheckpointLinks,
      })
      .nullable()
      .describe('The first stamped checkpoint that covers the batch.'),
  })
  .meta({ id: 'Sealing' });

export const ConsentResponse = dataOf(
  ConsentSummary.extend({
    stream: z.string().describe('Stream of the event in the log.'),
    revision: z.int().describe('Position of the event in its stream, from 0.'),
    sealing: Sealing,
  }).meta({ id: 'ConsentDetails' }),
);

/** The id of a record, or its consent token. */
export const ConsentParams = z.object({
  site_id: InputUuid.describe('The site.'),
  consent_id: z.string().min(1).max(100).describe('Id or consent token of the record.'),
});

/** Response of keyed verification, with the record's state of sealing. */
export const VerifyConsentResponse = dataOf(
  VerifiedRecord.extend({
    id: Uuid.describe('UUID of the object.'),
    valid: z.boolean().describe('Whether every check passed.'),
    site_domain: z.string().nullable().describe('Domain of the site, or null if the service does not know it.'),
    timestamp: z
      .object({
        time: Timestamp.describe('Time in the time stamp.'),
        checkpoint_size: z.int().describe('Size of the stamped checkpoint.'),
      })
      .nullable()
      .describe('The earliest time stamp that covers the record, or null if there is none or it does not match.'),
    sealing: Sealing,
  }).describe('The result.'),
);

/** The personal values to disclose: fields by their names, or all. */
export const DiscloseConsentRequest = z.strictObject({
  fields: z
    .union([z.literal('all'), z.array(PersonalField).min(1).max(PERSONAL_FIELDS.length)], {
      error: `must be "all", or a list with some of: ${PERSONAL_FIELDS.join(', ')}`,
    })
    .describe('The personal fields to disclose: `all`, or a list of names, as for an evidence export.'),
  reason: DisclosureReason,
});

export const DiscloseConsentResponse = dataOf(
  z
    .object({
      id: Uuid.describe('UUID of the object.'),
      is_anonymized: z.boolean().describe('Whether the record was erased; then every field is null.'),
      fields: z
        .record(z.string(), z.unknown())
        .describe('The requested fields, each null if the consent had no value.'),
      attachments: z.array(ExportedAttachment).describe('Signature picture and custom document of the record.'),
    })
    .describe('The result.'),
);
