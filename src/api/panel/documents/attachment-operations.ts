import { dataOf, NoBody, None, PageQuery, pageOf } from '../../../../schemas/api/panel/common.js';
import { AttachmentParams, DocumentAttachment, PanelDocumentParams } from '../../../../schemas/api/panel/documents.js';
import { EDITORS, operation, READERS } from '../operation.js';

const tag = 'Documents';
const attachments = '/sites/{site_id}/documents/{document_id}/attachments';
const attachment = `${attachments}/{attached_site_id}`;

export const listAttachments = operation({
  id: 'listDocumentAttachments',
  method: 'get',
  path: attachments,
  tag,
  summary: 'List the sites that a document is attached to, in the order of attachment',
  roles: READERS,
  params: PanelDocumentParams,
  query: PageQuery,
  body: NoBody,
  status: 200,
  response: pageOf(DocumentAttachment),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const attachDocument = operation({
  id: 'attachDocument',
  method: 'put',
  path: attachment,
  tag,
  summary: 'Attach a document to a further site of the tenant',
  description:
    'The versions in use are published and activated at that site too, with ids of their own. From then on every version that is published, activated or retired at the home site is so there too. A document that is attached already remains unchanged. 409 ALREADY_EXISTS if the site has a document with the same slug; 409 WRONG_STATE for the home site itself, or if the document is attached to 50 sites.',
  roles: EDITORS,
  params: AttachmentParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(DocumentAttachment),
  errors: ['RESOURCE_NOT_FOUND', 'ALREADY_EXISTS', 'WRONG_STATE'],
  action: 'document.attach',
});

export const detachDocument = operation({
  id: 'detachDocument',
  method: 'delete',
  path: attachment,
  tag,
  summary: 'Detach a document from a site',
  description:
    'Retires the versions of the document at that site. New consents of the site cannot refer to them; earlier ones remain verifiable. Returns the attachment as it was.',
  roles: EDITORS,
  params: AttachmentParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(DocumentAttachment),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'document.detach',
});

export const ATTACHMENT_OPERATIONS = [listAttachments, attachDocument, detachDocument];
