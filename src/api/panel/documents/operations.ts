import { dataOf, NoBody, None, pageOf, SiteParams } from '../../../../schemas/api/panel/common.js';
import {
  ChangeDocumentRequest,
  CreateDocumentRequest,
  DocumentsQuery,
  PanelDocument,
  PanelDocumentParams,
} from '../../../../schemas/api/panel/documents.js';
import { EDITORS, operation, READERS } from '../operation.js';
import { ATTACHMENT_OPERATIONS } from './attachment-operations.js';
import { VERSION_OPERATIONS } from './version-operations.js';

const tag = 'Documents';

export const listDocuments = operation({
  id: 'listDocuments',
  method: 'get',
  path: '/sites/{site_id}/documents',
  tag,
  summary: 'List the documents of a site and those attached to it, by slug',
  roles: READERS,
  params: SiteParams,
  query: DocumentsQuery,
  body: NoBody,
  status: 200,
  response: pageOf(PanelDocument),
  errors: [],
  action: null,
});

export const createDocument = operation({
  id: 'createDocument',
  method: 'post',
  path: '/sites/{site_id}/documents',
  tag,
  summary: 'Create a document, without versions',
  description:
    'Documents are never deleted, because the evidence of consents to them remains. 409 ALREADY_EXISTS if a document of the site, or one attached to it, has the slug.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: CreateDocumentRequest,
  example: { slug: 'cookie-policy', kind: 'cookie_policy' },
  status: 201,
  response: dataOf(PanelDocument),
  errors: ['ALREADY_EXISTS'],
  action: 'document.create',
});

export const readDocument = operation({
  id: 'readDocument',
  method: 'get',
  path: '/sites/{site_id}/documents/{document_id}',
  tag,
  summary: 'Get a document, with its active version in each language',
  roles: READERS,
  params: PanelDocumentParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(PanelDocument),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const changeDocument = operation({
  id: 'changeDocument',
  method: 'patch',
  path: '/sites/{site_id}/documents/{document_id}',
  tag,
  summary: 'Change a document',
  description:
    'The event log has slug, kind and requires_approval_token of every published version. Therefore slug and kind can be changed until the first publication, and requires_approval_token while no version is published or active. 409 WRONG_STATE at a site that the document is attached to.',
  roles: EDITORS,
  params: PanelDocumentParams,
  query: None,
  body: ChangeDocumentRequest,
  example: { requires_approval_token: true },
  status: 200,
  response: dataOf(PanelDocument),
  errors: ['RESOURCE_NOT_FOUND', 'ALREADY_EXISTS', 'WRONG_STATE'],
  action: 'document.change',
});

export const DOCUMENT_OPERATIONS = [
  listDocuments,
  createDocument,
  readDocument,
  changeDocument,
  ...ATTACHMENT_OPERATIONS,
  ...VERSION_OPERATIONS,
];
