import * as z from 'zod';
import { ConsentRecordV2, eventIdOfConsentToken } from '../../events/consent-recorded.js';
import { ExportStatement } from '../../evidence/manifest.js';
import { Count, Sha256Hex, Uuid } from '../../evidence/primitives.js';
import { InputTime, InputUuid } from '../common.js';
import { CONSENT_LIMITS } from '../consent-limits.js';
import { PERSONAL_FIELDS, PersonalField } from '../export.js';
import { DisclosureReason, SiteParams, Timestamp } from './common.js';

/** Maximum number of records that one export may name. */
export const MAX_EXPORT_RECORDS = 1000;

/** A record by id or consent token, parsed to its event id. */
const RecordId = z
  .string()
  .max(100)
  .transform((text, context) => {
    const lower = text.trim().toLowerCase();
    const id = Uuid.safeParse(lower).data ?? eventIdOfConsentToken(lower);
    if (id !== null) return id;
    context.addIssue({ code: 'custom', message: 'must be the UUID or the consent token of a record' });
    return z.NEVER;
  });

/**
 * Consents that a package contains, in the terms of the command `evidence export`. An absent
 * condition restricts nothing.
 */
export const EvidenceFilter = z
  .strictObject({
    from: InputTime.optional().describe('Only consents with `created_at` at or after this time.'),
    to: InputTime.optional().describe('Only consents with `created_at` before this time. It must be after `from`.'),
    consent_type: ConsentRecordV2.shape.consent_type.optional().describe('Only consents of this kind.'),
    document_version_id: InputUuid.optional().describe('Only consents to this document version.'),
    records: z
      .array(RecordId)
      .min(1)
      .max(MAX_EXPORT_RECORDS)
      .optional()
      .describe('Only these records: ids or consent tokens.'),
    visitor_id: z.string().min(1).max(CONSENT_LIMITS.visitorId).optional().describe('Only consents of this person.'),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    path: ['to'],
    error: 'must be after from',
  })
  .meta({ id: 'EvidenceFilter' });
export type EvidenceFilter = z.output<typeof EvidenceFilter>;

/** The personal fields that a package shows. */
export const DiscloseRequest = z
  .union([z.enum(['all', 'none']), z.array(PersonalField).min(1).max(100)], {
    error: `must be "all", "none", or a list with some of: ${PERSONAL_FIELDS.join(', ')}`,
  })
  .describe('Personal fields that the package discloses: `all`, `none` or a list of names.');

export const CreateExportRequest = z
  .strictObject({
    filter: EvidenceFilter.default({}).describe('Which consents the package contains; all if absent.'),
    disclose: DiscloseRequest.default('none').describe(
      `Personal fields that the package discloses: \`all\`, \`none\` or a list of names. None if absent. A package for a person proves that it has all records of the person only if it discloses \`visitor_id\`. A list with another name is refused, and the answer has all names.`,
    ),
    stated: ExportStatement.omit({ role: true })
      .meta({ id: 'ExportStatement' })
      .optional()
      .describe(
        'What the package states of its making, beside the role of the user: a reason of the list, and a name only if given. Nothing if absent. Verifiers show it as a statement of the package.',
      ),
  })
  .meta({ id: 'CreateExportRequest' });
export type CreateExportRequest = z.output<typeof CreateExportRequest>;

/** The same, by a user. */
export const UserExportRequest = CreateExportRequest.extend({
  reason: DisclosureReason.optional().describe('Why the values are needed. Required if `disclose` names any.'),
}).refine(({ disclose, reason }) => disclose === 'none' || reason !== undefined, {
  path: ['reason'],
  error: 'is required, because the export discloses personal values',
});

export const EXPORT_STATES = ['queued', 'running', 'finished', 'cancelled', 'failed', 'expired'] as const;

/** Why an export was cancelled or failed. */
export const EXPORT_REASONS = [
  /** A user cancelled it. */
  'requested',
  /** Personal data of the site was erased during or after the export. Export again. */
  'erasure',
  /** The package would be larger than the format or the service's configuration permits. */
  'too-large',
  /** Event log and ledger contradict each other, or a record differs from the accepted one. An operator must act. */
  'log-and-ledger-differ',
  'proof-hash-differs',
  'manifest-key-not-certified',
  /** Several attempts all ended early. */
  'error',
] as const;

/** The filter as shown, without the person that it names. */
const ShownFilter = z
  .object({
    from: Timestamp.nullable().describe('Start of the period.'),
    to: Timestamp.nullable().describe('End of the period.'),
    consent_type: z.string().nullable().describe('Only consents of this kind, or null for every kind.'),
    document_version_id: Uuid.nullable().describe('Only consents to this document version, or null for every version.'),
    records: z.array(Uuid).nullable().describe('UUIDs of the records, or null for all records.'),
    by_visitor: z.boolean().describe('Whether the export is restricted to one visitor.'),
  })
  .meta({ id: 'EvidenceFilterSummary' });

const Progress = z
  .object({
    step: z
      .enum(['entries', 'batches', 'proofs', 'checkpoints', 'attachments', 'finishing'])
      .describe('What the export does now.'),
    done: Count.describe('Records, batches or files of this step that are done.'),
    total: Count.nullable().describe('Records, batches or files of this step in total, or null if unknown.'),
    bytes: Count.describe('Bytes of the package so far.'),
  })
  .meta({ id: 'ExportProgress' });

const FinishedPackage = z
  .object({
    bytes: Count.describe('Size of the package in bytes.'),
    sha256: Sha256Hex.describe('SHA-256 of the package.'),
    checkpoint: Count.nullable().describe(
      'Size of the checkpoint as of which the package is, or null if nothing was stamped yet.',
    ),
    counts: z
      .object({
        entries: Count.describe('Entries of the log in the package.'),
        consents: Count.describe('Number of consents.'),
        erased: Count.describe('Records whose personal values were erased.'),
        key_lost: Count.describe('Records whose personal values are lost, because the service lost their keys.'),
        attachments: Count.describe('Signature pictures and custom documents in the package.'),
        not_yet_stamped: Count.describe(
          'Consents that match the filter, but are not stamped yet and not in the package.',
        ),
      })
      .describe('What the package contains.'),
  })
  .meta({ id: 'FinishedPackage' });

/** An export of evidence. */
export const EvidenceExport = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    site_id: Uuid.describe('The site.'),
    state: z.enum(EXPORT_STATES).describe('Where it stands.'),
    reason: z.enum(EXPORT_REASONS).nullable().describe('Why there is no package, or null if nothing went wrong.'),
    requested_by: z
      .object({
        user_id: Uuid.describe('The user.'),
        channel: z.enum(['panel', 's2s']).describe('Whether it was requested in the panel or by a backend.'),
      })
      .describe('Who requested it.'),
    requested_at: Timestamp.describe('When it was requested.'),
    ended_at: Timestamp.nullable().describe('When the export ended, or null if it has not.'),
    expires_at: Timestamp.nullable().describe('Until when a finished package can be downloaded.'),
    filter: ShownFilter,
    disclose: DiscloseRequest,
    progress: Progress.nullable().describe('Progress, or null unless the export is running.'),
    package: FinishedPackage.nullable().describe('The finished package, also when it is no longer stored.'),
  })
  .meta({ id: 'EvidenceExport' });
export type EvidenceExport = z.output<typeof EvidenceExport>;

/** One export, with members that lists do not have. */
export const EvidenceExportDetails = EvidenceExport.extend({
  filter_disclosures: z
    .array(z.string())
    .describe(
      'For a finished export of one visitor: these disclosures prove which visitor the package is about. They are not in the package; deliver them separately.',
    ),
}).meta({ id: 'EvidenceExportDetails' });
export type EvidenceExportDetails = z.output<typeof EvidenceExportDetails>;

export const EvidenceExportAnswer = z.object({ data: EvidenceExportDetails }).meta({ id: 'EvidenceExportAnswer' });

export const ExportParams = SiteParams.extend({ export_id: InputUuid.describe('The export.') });

/** GET /tool/v1/s2s/evidence-exports/{id}. */
export const S2sExportParams = z.object({ id: InputUuid.describe('The export.') });
