import * as z from 'zod';
import { eventIdOfConsentToken, eventIdOfTestToken } from '../events/consent-recorded.js';
import { ERASURE_REASONS } from '../events/subject-erased.js';
import { Uuid } from '../evidence/primitives.js';
import { InputUuid } from './common.js';
import { CONSENT_LIMITS } from './consent-limits.js';
import { TEST_MEMBER } from './test-mark.js';

const Time = z.iso.datetime({ offset: true });

/** Identifiers of a person, with the names of their fields in a consent. */
export const PERSON_IDENTIFIERS = ['visitor_id', 'signer_email', 'signer_phone', 'signer_id_number'] as const;

/** A person of a site. */
export const PersonReference = z
  .strictObject({
    by: z.enum(PERSON_IDENTIFIERS).describe('Kind of the identifier.'),
    value: z
      .string()
      .max(CONSENT_LIMITS.signerEmail)
      .refine((text) => text.trim() !== '', 'must not be empty')
      .describe('The identifier. It is sent in a body only, because URLs are logged.'),
  })
  .meta({ id: 'PersonReference' });

/**
 * The person or the record to erase. The service stores only a keyed hash of the identifier, until the erasure is
 * finished. Client generators get the first schema, which has no variants.
 */
const Subject = z
  .strictObject({
    by: z.enum([...PERSON_IDENTIFIERS, 'record']).describe('Kind of the identifier.'),
    value: z
      .string()
      .max(CONSENT_LIMITS.signerEmail)
      .describe(
        'The identifier. If `by` is `record`: the UUID or consent token of the record. Send it only in a body, because URLs are logged.',
      ),
  })
  .meta({ id: 'ErasureSubject' })
  .pipe(
    z.discriminatedUnion('by', [
      PersonReference,
      z.strictObject({
        by: z.literal('record'),
        value: z
          .string()
          .max(100)
          .transform((text) => text.toLowerCase())
          .transform((text) => eventIdOfConsentToken(text) ?? eventIdOfTestToken(text) ?? text)
          .pipe(InputUuid),
      }),
    ]),
  );

/**
 * A random UUID of the client. A repeated request with the same key is the same erasure and is not carried out twice.
 * The same key with another subject is a different erasure.
 */
const IdempotencyKey = InputUuid;

export const CreateErasureRequest = z
  .strictObject({
    subject: Subject.describe('Whose records, or which record.'),
    idempotency_key: IdempotencyKey.optional().describe('One key for each action; repeat it in each retry.'),
  })
  .meta({ id: 'CreateErasureRequest' });
export const S2sErasureRequest = CreateErasureRequest.required().meta({ id: 'S2sErasureRequest' });
export type S2sErasureRequest = z.infer<typeof S2sErasureRequest>;

/** A requested erasure. */
export const Erasure = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    site_id: Uuid.describe('The site.'),
    state: z.enum(['pending', 'finished']).describe('Where it stands.'),
    reason: z.enum(ERASURE_REASONS).describe('Why the records were erased.'),
    by: z
      .enum([...PERSON_IDENTIFIERS, 'record', 'age'])
      .describe('How the erased records were chosen; `age`: by the retention period of the site.'),
    record_id: Uuid.nullable().describe('The record, for an erasure by record.'),
    older_than: Time.nullable().describe('For an erasure by age: older records were erased.'),
    channel: z
      .enum(['panel', 's2s', 'operator', 'service'])
      .describe('How the erasure was requested; `service`: by the retention period.'),
    requested_at: Time.describe('When it was requested.'),
    finished_at: Time.nullable().describe('When the last key was destroyed.'),
    erased_records: z.int().describe('Records erased so far. 0 if nothing was found; the reason is not stated.'),
    deleted_approval_tokens: z.int().describe('Approval tokens and person tokens of the person that were deleted.'),
    cancelled_exports: z
      .int()
      .describe('Running exports of the site that were cancelled. Queued exports are cancelled, too, but not counted.'),
    destroyed_packages: z.int().describe('Finished exports of the site whose stored packages were destroyed.'),
  })
  .meta({ id: 'Erasure' });

/** A `SubjectErased` event and its state, which includes the states before it. */
export const ErasureAnnouncement = z
  .object({
    event_id: Uuid.describe('The event in the log.'),
    state: z.enum(['waiting', 'logged', 'sealed', 'stamped']).describe('Where it stands.'),
    batch: z.int().nullable().describe('Number of the Merkle batch, or null if it is in none yet.'),
    checkpoint_size: z.int().nullable().describe('Size of the first stamped checkpoint that covers the event.'),
    stamped_time: Time.nullable().describe(
      'Time in the first time stamp that covers the event, or null if there is none yet.',
    ),
  })
  .meta({ id: 'ErasureAnnouncement' });

/** Maximum number of announcements in a receipt. There is one for each erased record. */
export const MAX_SHOWN_ANNOUNCEMENTS = 100;

/** The result of an erasure, and how long the values can still be decrypted. */
export const ErasureReceipt = Erasure.extend({
  announcements: z
    .array(ErasureAnnouncement)
    .max(MAX_SHOWN_ANNOUNCEMENTS)
    .describe('The first announcements, in order. Each names one erased record, and contains no personal value.'),
  unannounced_records: z
    .int()
    .describe('Erased records whose announcement is not queued yet. Announcements are collected for an interval.'),
  has_more_announcements: z.boolean().describe('Whether there are more announcements than these.'),
  remains: z
    .object({
      keys_sampled: z
        .boolean()
        .describe(
          'Whether the planner statistics of the database hold samples of destroyed keys, because its schema was changed.',
        ),
      scrubbed_at: Time.nullable().describe(
        'When the deleted bytes were removed from the database files, or null if they were not, or none were deleted.',
      ),
      backup_retention_days: z
        .int()
        .nullable()
        .describe('Days for which backups are kept, according to the configuration, or null if it does not say.'),
      backups_until: Time.nullable().describe(
        'Until when backups can exist from which the master key can decrypt the values, or null if that is unknown or nothing was destroyed.',
      ),
    })
    .describe('Copies of the erased values, and until when they can exist.'),
  statement: z.array(z.string()).describe('The receipt in sentences.'),
}).meta({ id: 'ErasureReceipt' });

export const ErasureReceiptResponse = z.object({ data: ErasureReceipt }).meta({ id: 'ErasureReceiptResponse' });
export const S2sErasureReceiptResponse = ErasureReceiptResponse.extend(TEST_MEMBER).meta({
  id: 'S2sErasureReceiptResponse',
});
export type ErasureReceiptResponse = z.infer<typeof ErasureReceiptResponse>;

export const ErasureParams = z.object({ id: InputUuid.describe('The erasure.') });
