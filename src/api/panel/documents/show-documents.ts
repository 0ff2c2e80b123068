import * as z from 'zod';
import type { DocumentsQuery, PanelDocument } from '../../../../schemas/api/panel/documents.js';
import { DOCUMENT_KINDS } from '../../../../schemas/events/notices.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { ChangeRefused } from '../../../platform/errors.js';
import { keyOfCursor, type Page, pageOfRows } from '../page.js';

const DocumentRow = z.object({
  id: z.string(),
  home_site_id: z.string(),
  slug: z.string(),
  kind: z.enum(DOCUMENT_KINDS),
  requires_approval_token: z.boolean(),
  created_at: z.date(),
  active_versions: z.array(z.object({ id: z.string(), language: z.string(), number: z.int() })),
});

/** Returns the column `active_versions` of a document at a site. Both are SQL expressions. */
export function activeVersionsAt(documentId: string, siteId: string): string {
  return `coalesce((
         select jsonb_agg(jsonb_build_object('id', v.id, 'language', v.language, 'number', v.number) order by v.language)
           from document_versions v where v.document_id = ${documentId} and v.site_id = ${siteId} and v.state = 'active'), '[]') as active_versions`;
}

const SELECT = `
select d.id, d.site_id as home_site_id, d.slug, d.kind, d.requires_approval_token, d.created_at, ${activeVersionsAt('d.id', '$1')}
  from documents d
 where (d.site_id = $1 or exists (select from document_attachments a where a.document_id = d.id and a.site_id = $1`;
/** Documents that the site uses. Their slugs are unique. */
const USED = `${SELECT} and a.detached_at is null))`;
/** Documents that the site uses or used, because consents of the site may refer to them. */
const KNOWN = `${SELECT}))`;

const DocumentCursor = z.tuple([z.string()]);

/** A page of the documents that a site uses, by slug. @throws ApiError VALIDATION_ERROR */
export async function documentList(
  db: Queryable,
  siteId: string,
  query: z.output<typeof DocumentsQuery>,
): Promise<Page<PanelDocument>> {
  const [after] = keyOfCursor(DocumentCursor, query) ?? [null];
  const { rows } = await db.query(
    `${USED} and ($2::text is null or d.slug collate "C" > $2) and ($3::text is null or d.slug = $3) and ($4::text is null or d.kind = $4)
      order by d.slug collate "C" limit $5`,
    [siteId, after, query.slug ?? null, query.kind ?? null, query.limit + 1],
  );
  return pageOfRows(query, z.array(DocumentRow).parse(rows), ({ slug }) => [slug], shown);
}

/** One document that a site uses, or did until it was detached. @throws ChangeRefused `not_found` */
export async function documentOf(db: Queryable, siteId: string, documentId: string): Promise<PanelDocument> {
  const { rows } = await db.query(`${KNOWN} and d.id = $2`, [siteId, documentId]);
  const [row] = z.array(DocumentRow).parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `The site has no document ${documentId}.`);
  return shown(row);
}

function shown(row: z.infer<typeof DocumentRow>): PanelDocument {
  return { ...row, created_at: row.created_at.toISOString() };
}
