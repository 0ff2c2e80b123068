import { z } from 'zod';
import { CHANNELS, ConsentRecord, DECISIONS } from '../../events/consent-recorded.js';
import { DocumentVersionPublishedRecord } from '../../events/notices.js';
import { Uuid } from '../../evidence/primitives.js';
import { CheckpointLinks } from '../checkpoints.js';
import { InputTime, QueryText } from '../common.js';
import { PersonReference } from '../erasures.js';
import { ExportedAttachment, PERSONAL_FIELDS, PersonalField } from '../export.js';
import { VerifiedRecord } from '../verify.js';
import { dataOf, PageQuery, pageOf, Timestamp } from './common.js';

/**
 * How far a record is on its way: in the log or on its way there, in a sealed batch, or under a
 * time stamp.
 */
export const SEALING_STATES = ['recorded', 'sealed', 'stamped'] as const;

const filters = {
  consent_type: ConsentRecord.shape.consent_type.optional(),
  decision: z.enum(DECISIONS).optional(),
  category: QueryText.min(1).max(50).optional().describe('Only records with a decision on this category.'),
  document_slug: DocumentVersionPublishedRecord.shape.slug.optional(),
  document_version_id: Uuid.optional(),
  channel: z.enum(CHANNELS).optional(),
  from: InputTime.optional().describe('Only records with `created_at` at or after this time.'),
  to: InputTime.optional().describe('Only records with `created_at` before this time.'),
};

const flags = <T extends z.ZodType>(flag: T) => ({
  category_granted: flag.optional().describe('Only records with this decision on `category`, which is required.'),
  is_anonymized: flag.optional(),
  is_expired: flag.optional().describe('Only records whose `valid_until` has passed, or has not.'),
  is_stamped: flag.optional(),
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
const ORDERED = { path: ['to'], message: 'must be after from' };
const WITH_CATEGORY = { path: ['category_granted'], message: 'requires category' };

export const ListConsentsQuery = PageQuery.extend({ ...filters, ...flags(FlagInQuery) })
  .refine(isOrdered, ORDERED)
  .refine(namesCategory, WITH_CATEGORY);

export const SearchConsentsRequest = z
  .strictObject({
    person: PersonReference,
    ...filters,
    ...flags(z.boolean()),
    limit: z.int().min(1).max(100).default(50),
    cursor: PageQuery.shape.cursor,
  })
  .refine(isOrdered, ORDERED)
  .refine(namesCategory, WITH_CATEGORY);

export type ConsentFilter = Omit<z.infer<typeof SearchConsentsRequest>, 'person'>;

/** The public part of a record: nothing in it is personal. */
const PublicRecord = z
  .object(ConsentRecord.omit({ v: true, event_id: true, disclosures: true }).shape)
  .meta({ id: 'PublicRecord' });

const ConsentSummary = z
  .object({
    id: Uuid,
    consent_token: z.string(),
    proof_hash: z.string(),
    record: PublicRecord.nullable().describe(
      'Public part of the record; null if the stored text is not a valid record.',
    ),
    document_slug: z.string().nullable(),
    is_intact: z
      .boolean()
      .describe(
        'Whether the stored text matches its proof hash and every copy of its members. `verify` also checks the ledger.',
      ),
    is_anonymized: z.boolean(),
    is_expired: z.boolean(),
    state: z.enum(SEALING_STATES),
  })
  .meta({ id: 'ConsentSummary' });

/**
 * The newest first. A page may be short, or empty, though more follow: `next_cursor` alone says
 * whether.
 */
export const ConsentsPage = pageOf(ConsentSummary).meta({ id: 'ConsentsPage' });

const Sealing = z
  .object({
    batch: z.int().nullable().describe('Number of the Merkle batch; null while the record is in no batch.'),
    index: z.int().nullable(),
    sealed_at: Timestamp.nullable(),
    checkpoint: z
      .object({ size: z.int(), gen_time: Timestamp, authorities: z.array(z.string()), ...CheckpointLinks })
      .nullable()
      .describe('The first stamped checkpoint that covers the batch.'),
  })
  .meta({ id: 'Sealing' });

export const ConsentResponse = dataOf(
  ConsentSummary.extend({ stream: z.string(), revision: z.int(), sealing: Sealing }),
);

/** The id of a record, or its consent token. */
export const ConsentParams = z.object({ site_id: Uuid, consent_id: z.string().min(1).max(100) });

/** Response of keyed verification, with the record's state of sealing. */
export const VerifyConsentResponse = dataOf(
  VerifiedRecord.extend({
    id: Uuid,
    valid: z.boolean(),
    site_domain: z.string().nullable(),
    timestamp: z
      .object({ time: Timestamp, checkpoint_size: z.int() })
      .nullable()
      .describe('The earliest time stamp that covers the record; null if there is none, or if it does not match.'),
    sealing: Sealing,
  }),
);

/** The personal values to disclose: fields by their names, or all. */
export const DiscloseConsentRequest = z.strictObject({
  fields: z.union([z.literal('all'), z.array(PersonalField).min(1).max(PERSONAL_FIELDS.length)], {
    error: `must be "all", or a list with some of: ${PERSONAL_FIELDS.join(', ')}`,
  }),
});

export const DiscloseConsentResponse = dataOf(
  z.object({
    id: Uuid,
    is_anonymized: z.boolean().describe('Whether the record was erased; then every field is null.'),
    fields: z.record(z.string(), z.unknown()).describe('The requested fields; null if the consent had no value.'),
    attachments: z.array(ExportedAttachment),
  }),
);
