import * as z from 'zod';
import { DiscloseRequest, EvidenceExport, type EvidenceExport as Shown } from '../../../schemas/api/panel/exports.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { SHOWN_STATE } from '../../platform/exports/export-states.js';
import { ExportFilter } from '../package/filter.js';

/** Identifies an export of one site. */
export interface ExportId {
  readonly siteId: string;
  readonly exportId: string;
}

/** The part of the filter that is stored unencrypted. */
export const KeptFilter = ExportFilter.omit({ visitorId: true });
export type KeptFilter = z.infer<typeof KeptFilter>;

/** Columns of a job `j` and its row `e` of `exports`, with the state that clients see. */
export const EXPORT_COLUMNS = `
  e.id, e.site_id, j.requested_by, j.channel, j.requested_at, e.ended_at, j.expires_at, j.filter, j.by_visitor, j.disclose,
  j.step, j.done, j.total, j.bytes, j.sha256, j.checkpoint, j.counts,
  ${SHOWN_STATE} as state, e.reason`;

const bytes = z.instanceof(Uint8Array);
const { shape } = EvidenceExport;

export const ExportJobRow = z.object({
  id: z.string(),
  site_id: z.string(),
  requested_by: z.string(),
  channel: shape.requested_by.shape.channel,
  requested_at: z.date(),
  ended_at: z.date().nullable(),
  expires_at: z.date().nullable(),
  filter: KeptFilter,
  by_visitor: z.boolean(),
  disclose: DiscloseRequest,
  step: shape.progress.unwrap().shape.step.nullable(),
  done: z.int().nullable(),
  total: z.int().nullable(),
  bytes: z.int(),
  sha256: bytes.nullable(),
  checkpoint: z.int().nullable(),
  counts: shape.package.unwrap().shape.counts.nullable(),
  state: shape.state,
  reason: shape.reason,
});
export type ExportJobRow = z.infer<typeof ExportJobRow>;

/** Converts a row to the export that callers see. */
export function shownExport(row: ExportJobRow): Shown {
  const { filter, step, sha256, counts, bytes: size } = row;
  return {
    id: row.id,
    site_id: row.site_id,
    state: row.state,
    reason: row.reason,
    requested_by: { user_id: row.requested_by, channel: row.channel },
    requested_at: row.requested_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    filter: {
      from: filter.from ?? null,
      to: filter.to ?? null,
      consent_type: filter.consentType ?? null,
      document_version_id: filter.documentVersionId ?? null,
      records: filter.eventIds ?? null,
      by_visitor: row.by_visitor,
    },
    disclose: row.disclose,
    progress:
      row.state === 'running' && step !== null ? { step, done: row.done ?? 0, total: row.total, bytes: size } : null,
    package:
      sha256 === null || counts === null
        ? null
        : { bytes: size, sha256: toHex(sha256), checkpoint: row.checkpoint, counts },
  };
}
