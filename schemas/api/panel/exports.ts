import { z } from 'zod';
import { ConsentRecord, eventIdOfConsentToken } from '../../events/consent-recorded.js';
import { Count, Sha256Hex, Uuid } from '../../evidence/primitives.js';
import { InputTime } from '../common.js';
import { CONSENT_LIMITS } from '../consent-limits.js';
import { PERSONAL_FIELDS } from '../export.js';
import { SiteParams, Timestamp } from './common.js';

/** Most records that one export may name. */
export const MAX_EXPORT_RECORDS = 1000;

/** A record by id or consent token; its event id comes out. */
const RecordId = z
  .string()
  .max(100)
  .transform((text, context) => {
    const lower = text.trim().toLowerCase();
    const id = Uuid.safeParse(lower).data ?? eventIdOfConsentToken(lower);
    if (id !== null) return id;
    context.addIssue({ code: 'custom', message: 'must be the id of a record, or its consent token' });
    return z.NEVER;
  });

/** Which consents a package is about, as `evidence export` of the command line knows it. What is left out restricts nothing. */
export const EvidenceFilter = z
  .strictObject({
    from: InputTime.optional().describe('Of `created_at`, inclusive.'),
    to: InputTime.optional().describe('Of `created_at`, exclusive.'),
    consent_type: ConsentRecord.shape.consent_type.optional(),
    document_version_id: z.string().toLowerCase().pipe(Uuid).optional(),
    records: z.array(RecordId).min(1).max(MAX_EXPORT_RECORDS).optional().describe('Ids or consent tokens.'),
    visitor_id: z.string().min(1).max(CONSENT_LIMITS.visitorId).optional(),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    path: ['to'],
    message: 'must be after from',
  })
  .meta({ id: 'EvidenceFilter' });
export type EvidenceFilter = z.output<typeof EvidenceFilter>;

/** Which personal fields a package shows. */
export const DiscloseRequest = z
  .union([z.enum(['all', 'none']), z.array(z.enum(PERSONAL_FIELDS)).min(1).max(100)], {
    error: `must be "all", "none", or a list with some of: ${PERSONAL_FIELDS.join(', ')}`,
  })
  .meta({ id: 'DisclosedFields' });

export const CreateExportRequest = z
  .strictObject({
    filter: EvidenceFilter.default({}),
    disclose: DiscloseRequest.default('none').describe(
      'Nothing personal unless it is asked for: a package goes to others.',
    ),
  })
  .meta({ id: 'CreateExportRequest' });
export type CreateExportRequest = z.output<typeof CreateExportRequest>;

export const EXPORT_STATES = ['queued', 'running', 'finished', 'cancelled', 'failed', 'expired'] as const;

/** Why an export was cancelled, or failed. */
export const EXPORT_REASONS = [
  /** A user cancelled it. */
  'requested',
  /** Personal data of the site was erased meanwhile, or since. Export again. */
  'erasure',
  /** The package would be larger than the format, or the service's configuration, allows. */
  'too-large',
  /** Event log and ledger contradict each other, or a record is not the one that was accepted: an operator is needed. */
  'log-and-ledger-differ',
  'proof-hash-differs',
  'manifest-key-not-certified',
  /** It was tried several times, and each run ended early. */
  'error',
] as const;

/** The filter as it is shown: whom it is about is not. */
const ShownFilter = z
  .object({
    from: Timestamp.nullable(),
    to: Timestamp.nullable(),
    consent_type: z.string().nullable(),
    document_version_id: Uuid.nullable(),
    records: z.array(Uuid).nullable().describe('Event ids.'),
    by_visitor: z.boolean().describe('Whether it is about one visitor.'),
  })
  .meta({ id: 'EvidenceFilterSummary' });

const Progress = z
  .object({
    step: z.enum(['entries', 'batches', 'proofs', 'checkpoints', 'attachments', 'finishing']),
    done: Count.describe('Records, batches or files done of this step.'),
    total: Count.nullable().describe('Of them in all; null where that is not known.'),
    bytes: Count.describe('Of the package so far.'),
  })
  .meta({ id: 'ExportProgress' });

const FinishedPackage = z
  .object({
    bytes: Count,
    sha256: Sha256Hex.describe('Of the file that is downloaded.'),
    checkpoint: Count.nullable().describe('Size of the checkpoint as of which it is; null if nothing was stamped yet.'),
    counts: z.object({
      entries: Count,
      consents: Count,
      erased: Count,
      attachments: Count,
      not_yet_stamped: Count.describe(
        'Consents that fit the filter, but are not time-stamped yet, and not in the package.',
      ),
    }),
  })
  .meta({ id: 'FinishedPackage' });

/** An export of evidence. */
export const EvidenceExport = z
  .object({
    id: Uuid,
    site_id: Uuid,
    state: z.enum(EXPORT_STATES),
    reason: z.enum(EXPORT_REASONS).nullable(),
    requested_by: z.object({ user_id: Uuid, channel: z.enum(['panel', 's2s']) }),
    requested_at: Timestamp,
    ended_at: Timestamp.nullable(),
    expires_at: Timestamp.nullable().describe('Until then a finished package can be downloaded.'),
    filter: ShownFilter,
    disclose: DiscloseRequest,
    progress: Progress.nullable().describe('While it runs.'),
    package: FinishedPackage.nullable().describe('Once it is finished; also when it is not kept any more.'),
  })
  .meta({ id: 'EvidenceExport' });
export type EvidenceExport = z.output<typeof EvidenceExport>;

/** One export, with what is shown only to whoever asks for this one. */
export const EvidenceExportDetails = EvidenceExport.extend({
  filter_disclosures: z
    .array(z.string())
    .describe(
      'Of a finished export by visitor: with these disclosures, and only with them, it can be shown whom the package is about. They are not in it. Hand them over apart from it.',
    ),
}).meta({ id: 'EvidenceExportDetails' });
export type EvidenceExportDetails = z.output<typeof EvidenceExportDetails>;

export const EvidenceExportAnswer = z.object({ data: EvidenceExportDetails }).meta({ id: 'EvidenceExportAnswer' });

export const ExportParams = SiteParams.extend({ export_id: Uuid });

/** GET /tool/v1/s2s/evidence-exports/{id}. */
export const S2sExportParams = z.object({ id: Uuid });
