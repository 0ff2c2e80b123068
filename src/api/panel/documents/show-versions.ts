import * as z from 'zod';
import { InputInteger, MAX_INTEGER } from '../../../../schemas/api/common.js';
import { type DocumentVersion, VERSION_STATES, type VersionsQuery } from '../../../../schemas/api/panel/documents.js';
import {
  joinPublication,
  PUBLICATION_COLUMNS,
  PublicationRow,
  publicationOf,
} from '../../../evidence/records/publication.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { ChangeRefused } from '../../../platform/errors.js';
import { keyOfCursor, type Page, pageOfRows } from '../page.js';
import { documentOf } from './show-documents.js';

const VersionRow = z.object({
  id: z.string(),
  document_id: z.string(),
  home_version_id: z.string().nullable(),
  language: z.string(),
  number: z.int().nullable(),
  title: z.string(),
  media_type: z.string(),
  content_sha256: z.string(),
  size: z.int(),
  state: z.enum(VERSION_STATES),
  published_at: z.date().nullable(),
  activated_at: z.date().nullable(),
  retired_at: z.date().nullable(),
  ...PublicationRow.shape,
  event_id: z.string().nullable(),
});
type VersionRow = z.infer<typeof VersionRow>;

const SELECT = `
select v.id, v.document_id, v.home_version_id, v.language, v.number, v.title, v.media_type, v.content_sha256, octet_length(c.content) as size, v.state,
       v.published_at, v.activated_at, v.retired_at, v.event_id, ${PUBLICATION_COLUMNS}
  from document_versions v
  join notice_contents c on c.sha256 = v.content_sha256 ${joinPublication('v')}
 where v.site_id = $1 and v.document_id = $2`;

/** Larger than every number: drafts come last. */
const DRAFT = MAX_INTEGER;
const VersionCursor = z.tuple([z.string(), InputInteger, z.uuid()]);

/**
 * A page of a document's versions, by language and number, drafts last.
 * @throws ChangeRefused `not_found` (the document); ApiError VALIDATION_ERROR
 */
export async function versionList(
  db: Queryable,
  siteId: string,
  documentId: string,
  query: z.output<typeof VersionsQuery>,
): Promise<Page<DocumentVersion>> {
  await documentOf(db, siteId, documentId);
  const [language, number, id] = keyOfCursor(VersionCursor, query) ?? [null, null, null];
  const key = `v.language collate "C", coalesce(v.number, ${DRAFT}), v.id`;
  const { rows } = await db.query(
    `${SELECT} and ($3::text is null or (${key}) > ($3, $4::integer, $5::uuid))
        and ($6::text is null or v.language = $6) and ($7::text is null or v.state = $7)
      order by ${key} limit $8`,
    [siteId, documentId, language, number, id, query.language ?? null, query.state ?? null, query.limit + 1],
  );
  return pageOfRows(
    query,
    z.array(VersionRow).parse(rows),
    (row) => [row.language, row.number ?? DRAFT, row.id],
    shown,
  );
}

/** One version of a document. @throws ChangeRefused `not_found` */
export async function versionShown(
  db: Queryable,
  siteId: string,
  documentId: string,
  versionId: string,
): Promise<DocumentVersion> {
  const { rows } = await db.query(`${SELECT} and v.id = $3`, [siteId, documentId, versionId]);
  const [row] = z.array(VersionRow).parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `The document has no version ${versionId}.`);
  return shown(row);
}

function shown({ event_id, batch, sealed_at, checkpoint_size, gen_time, ...row }: VersionRow): DocumentVersion {
  return {
    ...row,
    published_at: row.published_at?.toISOString() ?? null,
    activated_at: row.activated_at?.toISOString() ?? null,
    retired_at: row.retired_at?.toISOString() ?? null,
    publication: event_id === null ? null : publicationOf({ event_id, batch, sealed_at, checkpoint_size, gen_time }),
  };
}
