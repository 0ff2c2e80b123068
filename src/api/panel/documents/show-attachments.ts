import * as z from 'zod';
import { DocumentAttachment } from '../../../../schemas/api/panel/documents.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { ChangeRefused } from '../../../platform/errors.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows, TimeAndId } from '../page.js';
import { activeVersionsAt, documentOf } from './show-documents.js';

const AttachmentRow = DocumentAttachment.extend({ id: z.string(), attached_at: z.date() });

const SELECT = `
select a.id, a.site_id, s.name as site_name, s.domain, a.attached_at, ${activeVersionsAt('a.document_id', 'a.site_id')}
  from document_attachments a join sites s on s.id = a.site_id
 where a.document_id = $1 and a.detached_at is null`;

/**
 * A page of the sites that a document is attached to, in the order of attachment.
 * @throws ChangeRefused `not_found` (the document); ApiError VALIDATION_ERROR
 */
export async function attachmentList(
  db: Queryable,
  siteId: string,
  documentId: string,
  page: PageRequest,
): Promise<Page<DocumentAttachment>> {
  await documentOf(db, siteId, documentId);
  const [attachedAt, id] = keyOfCursor(TimeAndId, page) ?? [null, null];
  const { rows } = await db.query(
    `${SELECT} and ($2::timestamptz is null or (a.attached_at, a.id) > ($2, $3::uuid)) order by a.attached_at, a.id limit $4`,
    [documentId, attachedAt, id, page.limit + 1],
  );
  const parsed = z.array(AttachmentRow).parse(rows);
  return pageOfRows(page, parsed, (row) => [row.attached_at.toISOString(), row.id], shown);
}

/** One attachment of a document. @throws ChangeRefused `not_found` */
export async function attachmentOf(
  db: Queryable,
  documentId: string,
  attachedSiteId: string,
): Promise<DocumentAttachment> {
  const { rows } = await db.query(`${SELECT} and a.site_id = $2`, [documentId, attachedSiteId]);
  const [row] = z.array(AttachmentRow).parse(rows);
  if (row === undefined) {
    throw new ChangeRefused('not_found', `The document is not attached to site ${attachedSiteId}.`);
  }
  return shown(row);
}

function shown({ id: _, ...row }: z.infer<typeof AttachmentRow>): DocumentAttachment {
  return { ...row, attached_at: row.attached_at.toISOString() };
}
