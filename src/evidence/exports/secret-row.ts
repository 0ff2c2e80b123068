import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { EXPORT_COLUMNS, type ExportId, ExportJobRow } from './export-job.js';

const bytes = z.instanceof(Uint8Array);
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
