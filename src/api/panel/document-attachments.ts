import * as z from 'zod';
import { dataOf, PageQuery, pageOf } from '../../../schemas/api/panel/common.js';
import { AttachmentParams, DocumentAttachment, PanelDocumentParams } from '../../../schemas/api/panel/documents.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { attachDocument, detachDocument } from '../../tenancy/documents/attach-document.js';
import { EDITORS, READERS } from './caller.js';
import { route } from './deps.js';
import { activeVersionsAt, documentAudit, documentOf } from './documents.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows, TimeAndId } from './page.js';

const shared = { auth: 'panel', tag: 'Documents' } as const;
const one = { ...shared, params: AttachmentParams, errors: ['RESOURCE_NOT_FOUND'] } as const;
const attachments = '/api/v1/sites/{site_id}/documents/{document_id}/attachments';
const attachment = `${attachments}/{attached_site_id}`;

/** The sites that a document is attached to, below its home site. */
export const ATTACHMENT_OPERATIONS = [
  route({
    ...shared,
    id: 'listDocumentAttachments',
    path: attachments,
    summary: 'List the sites that a document is attached to, in the order of attachment',
    roles: READERS,
    params: PanelDocumentParams,
    query: PageQuery,
    response: pageOf(DocumentAttachment),
    errors: ['RESOURCE_NOT_FOUND'],
    handle: ({ params, query }, { apiPool }) => attachmentList(apiPool, params.site_id, params.document_id, query),
  }),
  route({
    ...one,
    id: 'attachDocument',
    method: 'put',
    path: attachment,
    summary: 'Attach a document to a further site of the tenant',
    description:
      'The versions in use are published and activated at that site too, with ids of their own. From then on the site follows each publication, activation and retirement at the home site. A document that is attached already remains unchanged. 409 ALREADY_EXISTS if the site has a document with the same slug; 409 WRONG_STATE for the home site itself, or if the document is attached to 50 sites.',
    roles: EDITORS,
    response: dataOf(DocumentAttachment),
    errors: ['RESOURCE_NOT_FOUND', 'ALREADY_EXISTS', 'WRONG_STATE'],
    action: 'document.attach',
    change: async ({ params }, db) => {
      const { site_id: siteId, document_id: documentId, attached_site_id: attachedSiteId } = params;
      const { changed } = await attachDocument(db, siteId, documentId, attachedSiteId);
      const data = await attachmentOf(db, documentId, attachedSiteId);
      const more = { attached_site_id: attachedSiteId, changed };
      return { response: { data }, ...documentAudit(await documentOf(db, siteId, documentId), siteId, more) };
    },
  }),
  route({
    ...one,
    id: 'detachDocument',
    method: 'delete',
    path: attachment,
    summary: 'Detach a document from a site',
    description:
      'Retires the versions of the document at that site. New consents of the site cannot refer to them; earlier ones remain verifiable. Returns the attachment as it was.',
    roles: EDITORS,
    response: dataOf(DocumentAttachment),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'document.detach',
    change: async ({ params }, db) => {
      const { site_id: siteId, document_id: documentId, attached_site_id: attachedSiteId } = params;
      const document = await documentOf(db, siteId, documentId);
      const data = await attachmentOf(db, documentId, attachedSiteId);
      await detachDocument(db, siteId, documentId, attachedSiteId);
      const more = { attached_site_id: attachedSiteId };
      return { response: { data }, ...documentAudit(document, siteId, more) };
    },
  }),
];

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
