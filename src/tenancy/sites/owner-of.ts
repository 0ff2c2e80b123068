import { z } from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors/change-refused.js';

const Rows = z.array(z.object({ site_id: z.string() }));

/** Finds the site of a document. @throws ChangeRefused `not_found` */
export async function siteOfDocument(db: Queryable, documentId: string): Promise<string> {
  const { rows } = await db.query('select site_id from documents where id::text = $1', [documentId]);
  const [row] = Rows.parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no document ${documentId}.`);
  return row.site_id;
}

const VersionRows = z.array(z.object({ site_id: z.string(), document_id: z.string() }));

/** Finds the site and the document of a document version. @throws ChangeRefused `not_found` */
export async function placeOfVersion(
  db: Queryable,
  versionId: string,
): Promise<{ readonly siteId: string; readonly documentId: string }> {
  const { rows } = await db.query('select site_id, document_id from document_versions where id::text = $1', [
    versionId,
  ]);
  const [row] = VersionRows.parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no document version ${versionId}.`);
  return { siteId: row.site_id, documentId: row.document_id };
}

const TenantRows = z.array(z.object({ tenant_id: z.string() }));

/** Finds the tenant of a site. @throws ChangeRefused `not_found` */
export async function tenantOfSite(db: Queryable, siteId: string): Promise<string> {
  const { rows } = await db.query('select tenant_id from sites where id = $1', [siteId]);
  const [row] = TenantRows.parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no site ${siteId}.`);
  return row.tenant_id;
}
