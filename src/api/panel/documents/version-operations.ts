import * as z from 'zod';
import { dataOf, NoBody, None, pageOf } from '../../../../schemas/api/panel/common.js';
import {
  ActivatedVersion,
  ChangeVersionRequest,
  CreateVersionRequest,
  Deleted,
  DocumentVersion,
  PanelDocumentParams,
  PublishVersionRequest,
  VersionParams,
  VersionsQuery,
} from '../../../../schemas/api/panel/documents.js';
import { EDITORS, operation, READERS } from '../operation.js';

const tag = 'Document versions';
const versions = '/sites/{site_id}/documents/{document_id}/versions';
const version = `${versions}/{version_id}`;
/** Two MiB of content as base64 or as a JSON string with its escapes, and the rest. */
const CONTENT_BODY_LIMIT = 6 * 1024 * 1024;

export const listVersions = operation({
  id: 'listDocumentVersions',
  method: 'get',
  path: versions,
  tag,
  summary: 'List the versions of a document, by language and number, drafts last',
  description: '`publication` states the batch in which the publication is sealed, and when it was stamped.',
  roles: READERS,
  params: PanelDocumentParams,
  query: VersionsQuery,
  body: NoBody,
  status: 200,
  response: pageOf(DocumentVersion),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const createVersion = operation({
  id: 'createDocumentVersion',
  method: 'post',
  path: versions,
  tag,
  summary: 'Create a draft of a version',
  description:
    '`content` is the text for text/…, JSON and XML, else base64; at most 2 MiB (Markdown: 512 KiB). A draft has no number. 409 WRONG_STATE if the document already has 20 drafts.',
  roles: EDITORS,
  params: PanelDocumentParams,
  query: None,
  body: CreateVersionRequest,
  example: {
    language: 'en',
    title: 'Cookie policy',
    media_type: 'text/markdown',
    content: '# Cookies\n\nWe count visits.',
  },
  bodyLimit: CONTENT_BODY_LIMIT,
  status: 201,
  response: dataOf(DocumentVersion),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'document_version.create',
});

export const readVersion = operation({
  id: 'readDocumentVersion',
  method: 'get',
  path: version,
  tag,
  summary: 'Get a version, without its content',
  roles: READERS,
  params: VersionParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(DocumentVersion),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const changeVersion = operation({
  id: 'changeDocumentVersion',
  method: 'patch',
  path: version,
  tag,
  summary: 'Change a draft',
  description: 'A published version cannot be changed: 409 WRONG_STATE.',
  roles: EDITORS,
  params: VersionParams,
  query: None,
  body: ChangeVersionRequest,
  example: { content: '# Cookies\n\nWe count visits, and nothing else.' },
  bodyLimit: CONTENT_BODY_LIMIT,
  status: 200,
  response: dataOf(DocumentVersion),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'document_version.change',
});

export const deleteVersion = operation({
  id: 'deleteDocumentVersion',
  method: 'delete',
  path: version,
  tag,
  summary: 'Delete a draft',
  roles: EDITORS,
  params: VersionParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(Deleted.describe('The result.')),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'document_version.delete',
});

export const readContent = operation({
  id: 'readDocumentVersionContent',
  method: 'get',
  path: `${version}/content`,
  tag,
  summary: 'Download the exact bytes of a version',
  description: '`content_sha256` and the header Repr-Digest state their SHA-256.',
  roles: READERS,
  params: VersionParams,
  query: None,
  body: NoBody,
  status: 200,
  response: z.string(),
  download: { mediaType: '*/*', description: 'the bytes that people are asked to consent to, as an attachment' },
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const publishVersion = operation({
  id: 'publishDocumentVersion',
  method: 'post',
  path: `${version}/publish`,
  tag,
  summary: 'Publish a draft, whose text can never change from then on',
  description:
    'The hash of the text is written to the event log, sealed and stamped. With `content_sha256`, a draft that was changed meanwhile is refused. Consents can refer to the version once it is active.',
  roles: EDITORS,
  params: VersionParams,
  query: None,
  body: PublishVersionRequest,
  example: { content_sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae' },
  status: 200,
  response: dataOf(DocumentVersion),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'document_version.publish',
});

export const activateVersion = operation({
  id: 'activateDocumentVersion',
  method: 'post',
  path: `${version}/activate`,
  tag,
  summary: 'Activate a published version, and retire the active version of its language',
  roles: EDITORS,
  params: VersionParams,
  query: None,
  body: NoBody,
  status: 200,
  response: ActivatedVersion,
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'document_version.activate',
});

export const retireVersion = operation({
  id: 'retireDocumentVersion',
  method: 'post',
  path: `${version}/retire`,
  tag,
  summary: 'Retire a version, to which consents can no longer refer',
  roles: EDITORS,
  params: VersionParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(DocumentVersion),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'document_version.retire',
});

export const VERSION_OPERATIONS = [
  listVersions,
  createVersion,
  readVersion,
  changeVersion,
  deleteVersion,
  readContent,
  publishVersion,
  activateVersion,
  retireVersion,
];
