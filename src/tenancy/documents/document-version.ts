import { z } from 'zod';
import { VERSION_STATES } from '../../../schemas/api/panel/documents.js';
import { DocumentVersionPublishedRecord } from '../../../schemas/events/notices.js';
import { ChangeRefused } from '../../platform/errors/change-refused.js';
import type { LockedSite } from '../sites/change-site.js';

export type VersionState = (typeof VERSION_STATES)[number];

const VersionRow = z.object({
  id: z.string(),
  document_id: z.string(),
  slug: z.string(),
  kind: DocumentVersionPublishedRecord.shape.kind,
  requires_approval_token: z.boolean(),
  language: z.string(),
  /** Null for a draft. */
  number: z.int().nullable(),
  title: z.string(),
  media_type: z.string(),
  content_sha256: z.string(),
  state: z.enum(VERSION_STATES),
});
export type VersionRow = z.infer<typeof VersionRow>;

const VERSION_SQL = `
select v.id, v.document_id, d.slug, d.kind, d.requires_approval_token, v.language, v.number, v.title, v.media_type, v.content_sha256, v.state
  from document_versions v join documents d on d.id = v.document_id
 where v.site_id = $1`;

/** Reads a version of the site. @throws ChangeRefused `not_found` */
export async function versionOf(site: LockedSite, versionId: string): Promise<VersionRow> {
  const { rows } = await site.db.query(`${VERSION_SQL} and v.id = $2`, [site.siteId, versionId]);
  const [row] = z.array(VersionRow).parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `The site has no document version ${versionId}.`);
  return row;
}

/** Finds the active version of a document in a language. @returns null if there is none */
export async function activeVersionOf(
  site: LockedSite,
  documentId: string,
  language: string,
): Promise<VersionRow | null> {
  const { rows } = await site.db.query(
    `${VERSION_SQL} and v.document_id = $2 and v.language = $3 and v.state = 'active'`,
    [site.siteId, documentId, language],
  );
  return z.array(VersionRow).parse(rows)[0] ?? null;
}
