import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { type RowSeals, sealedRows } from '../../platform/keys/index.js';

/** A published version of a document of a site, active or not, because a former tool may have shown it. */
export interface ImportVersion {
  readonly id: string;
  readonly kind: string;
  readonly language: string;
  readonly contentSha256: string;
}

const Version = z.object({
  id: z.string(),
  document_id: z.string(),
  language: z.string(),
  content_sha256: z.string(),
});
const Document = z.object({ id: z.string(), kind: z.string() });

/**
 * Reads the published versions of a site. A version whose row was altered is left out.
 * @returns the versions by id
 */
export async function publishedVersions(
  db: Queryable,
  seals: RowSeals,
  siteId: string,
): Promise<ReadonlyMap<string, ImportVersion>> {
  const where = "r.site_id = $1 and r.state <> 'draft'";
  const rows = await sealedRows(db, { table: 'document_versions', where, values: [siteId] });
  const versions = (await Promise.all(rows.map((row) => seals.open(row, Version)))).filter((row) => row !== null);
  const ids = versions.map((version) => version.document_id);
  const stored = await sealedRows(db, { table: 'documents', where: 'r.id = any($1::uuid[])', values: [ids] });
  const documents = await Promise.all(stored.map((row) => seals.open(row, Document)));
  const kinds = new Map(documents.flatMap((document) => (document === null ? [] : [[document.id, document.kind]])));
  return new Map(
    versions.flatMap(({ id, document_id, language, content_sha256: contentSha256 }) => {
      const kind = kinds.get(document_id);
      return kind === undefined ? [] : [[id, { id, kind, language, contentSha256 }]];
    }),
  );
}
