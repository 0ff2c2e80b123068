import * as z from 'zod';
import {
  DiscloseRequest,
  EvidenceExport,
  type EvidenceExportDetails,
  type EvidenceExport as Shown,
} from '../../../schemas/api/panel/exports.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { enterState, SHOWN_STATE } from '../../platform/export-states.js';
import type { Keyring } from '../../platform/keys/index.js';
import { ExportFilter } from '../package/filter.js';
import { exportKey, openSecret } from './export-key.js';

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

/**
 * Lists the exports of a site, newest first.
 * @param before id of an export: only older exports are listed; null starts with the newest
 * @returns at most `limit` + 1 exports, so that the caller sees whether there are more
 */
export async function listExports(
  db: Queryable,
  siteId: string,
  before: string | null,
  limit: number,
): Promise<readonly ExportJobRow[]> {
  const { rows } = await db.query(
    `select ${EXPORT_COLUMNS} from export_jobs j join exports e on e.id = j.export_id
      where j.site_id = $1 and j.deleted_at is null and ($2::uuid is null or j.export_id < $2)
      order by j.export_id desc limit $3`,
    [siteId, before, limit + 1],
  );
  return z.array(ExportJobRow).parse(rows);
}

const Disclosures = z.array(z.string());

/**
 * Reads one export, with its decrypted disclosure strings.
 * @throws RequestRefused RESOURCE_NOT_FOUND; ExportUnreadable, KeyError
 */
export async function readExport(
  db: Queryable,
  keyring: Pick<Keyring, 'siteKey'>,
  { siteId, exportId }: ExportId,
): Promise<EvidenceExportDetails> {
  const row = await readSecretRow(db, { siteId, exportId });
  const { seed, sealed_disclosures: sealed } = row;
  const isReadable = row.state === 'finished' && seed !== null && sealed !== null;
  const disclosures = isReadable
    ? Disclosures.parse(
        JSON.parse(
          openSecret(exportKey(await keyring.siteKey(siteId), seed, exportId), exportId, 'filter-disclosures', sealed),
        ),
      )
    : [];
  return { ...shownExport(row), filter_disclosures: disclosures };
}

/**
 * Cancels an export that is queued or running. The worker detects this before it stores its next
 * chunk.
 * @param db a handle in the role `consent_ledger_admin`
 * @throws RequestRefused RESOURCE_NOT_FOUND, WRONG_STATE
 */
export async function cancelExport(db: Queryable, { siteId, exportId }: ExportId): Promise<EvidenceExport> {
  const { state } = await lockExport(db, { siteId, exportId });
  if (state !== 'queued' && state !== 'running') {
    throw new RequestRefused(
      'WRONG_STATE',
      `The export is ${state}. Only a queued or running export can be cancelled.`,
    );
  }
  await endExport(db, exportId);
  return shownExport(await lockExport(db, { siteId, exportId }));
}

/**
 * Destroys the key of an export, which makes its package unreadable immediately, and removes the export from the lists.
 * @param db a handle in the role `consent_ledger_admin`
 * @returns the export as it was before
 * @throws RequestRefused RESOURCE_NOT_FOUND
 */
export async function deleteExport(db: Queryable, { siteId, exportId }: ExportId): Promise<EvidenceExport> {
  const row = await lockExport(db, { siteId, exportId });
  await endExport(db, exportId);
  await db.query('update export_jobs set deleted_at = now() where export_id = $1', [exportId]);
  return shownExport(row);
}

/**
 * Locks the row of `exports` before the job's row, in the same order as an erasure and the worker.
 * Another order could deadlock.
 */
async function lockExport(db: Queryable, { siteId, exportId }: ExportId): Promise<ExportJobRow> {
  await db.query('select from exports where id = $1 and site_id = $2 for no key update', [exportId, siteId]);
  const { rows } = await db.query(
    `select ${EXPORT_COLUMNS} from export_jobs j join exports e on e.id = j.export_id
      where j.site_id = $1 and j.export_id = $2 and j.deleted_at is null`,
    [siteId, exportId],
  );
  const [row] = z.array(ExportJobRow).parse(rows);
  if (row === undefined) throw new RequestRefused('RESOURCE_NOT_FOUND');
  return row;
}

/** Cancels an export that has not ended, or whose package the service keeps. */
async function endExport(db: Queryable, exportId: string): Promise<void> {
  if (!(await enterState(db, exportId, 'cancelled', { claim: null, reason: 'requested' }))) return;
  await db.query('update export_jobs set claim = null, sealed_visitor = null where export_id = $1', [exportId]);
}

const SecretRow = ExportJobRow.extend({
  seed: bytes.nullable(),
  sealed_disclosures: bytes.nullable(),
  chunks: z.int().nullable(),
});

/** Reads an export with its seed and encrypted values. @throws RequestRefused RESOURCE_NOT_FOUND */
export async function readSecretRow(db: Queryable, { siteId, exportId }: ExportId): Promise<z.infer<typeof SecretRow>> {
  const { rows } = await db.query(
    `select ${EXPORT_COLUMNS}, e.seed, j.sealed_disclosures, j.chunks from export_jobs j join exports e on e.id = j.export_id
      where j.site_id = $1 and j.export_id = $2 and j.deleted_at is null`,
    [siteId, exportId],
  );
  const [row] = z.array(SecretRow).parse(rows);
  if (row === undefined) throw new RequestRefused('RESOURCE_NOT_FOUND');
  return row;
}
