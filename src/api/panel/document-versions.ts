import type { FastifyReply } from 'fastify';
import * as z from 'zod';
import { InputInteger, MAX_INTEGER } from '../../../schemas/api/common.js';
import { dataOf, pageOf } from '../../../schemas/api/panel/common.js';
import {
  ActivatedVersion,
  ChangeVersionRequest,
  CreateVersionRequest,
  Deleted,
  DocumentVersion,
  PanelDocumentParams,
  PublishVersionRequest,
  VERSION_STATES,
  VersionParams,
  VersionsQuery,
} from '../../../schemas/api/panel/documents.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import {
  joinPublication,
  PUBLICATION_COLUMNS,
  PublicationRow,
  publicationOf,
} from '../../evidence/records/publication.js';
import type { AuditSubject } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { isTextMediaType, readContent } from '../../tenancy/documents/content.js';
import { versionChangeDetails } from '../../tenancy/documents/document-version.js';
import { changeDraft, deleteDraft, draftVersion } from '../../tenancy/documents/drafts.js';
import { activateVersion, publishVersion, retireVersion } from '../../tenancy/documents/version-states.js';
import { EDITORS, READERS } from './caller.js';
import { route } from './deps.js';
import { documentOf } from './documents.js';
import { keyOfCursor, type Page, pageOfRows } from './page.js';

const shared = { auth: 'panel', tag: 'Document versions' } as const;
const one = { ...shared, params: VersionParams, errors: ['RESOURCE_NOT_FOUND'] } as const;
const versions = '/api/v1/sites/{site_id}/documents/{document_id}/versions';
const version = `${versions}/{version_id}`;
/** Enough for two MiB of content, as base64 or as a JSON string with its escapes, and for the other members. */
const CONTENT_BODY_LIMIT = 6 * 1024 * 1024;

/**
 * Each operation first looks the version up under its document and site, so the id of another site's version is unknown
 * here.
 */
export const VERSION_OPERATIONS = [
  route({
    ...shared,
    id: 'listDocumentVersions',
    path: versions,
    summary: 'List the versions of a document, by language and number, drafts last',
    description: '`publication` states the batch in which the publication is sealed, and when it was stamped.',
    roles: READERS,
    params: PanelDocumentParams,
    query: VersionsQuery,
    response: pageOf(DocumentVersion),
    errors: ['RESOURCE_NOT_FOUND'],
    handle: ({ params, query }, { apiPool }) => versionList(apiPool, params.site_id, params.document_id, query),
  }),
  route({
    ...shared,
    id: 'createDocumentVersion',
    method: 'post',
    path: versions,
    summary: 'Create a draft of a version',
    description:
      '`content` is the text for text/…, JSON and XML, else base64; at most 2 MiB (Markdown: 512 KiB). A draft has no number. 409 WRONG_STATE if the document already has 20 drafts.',
    roles: EDITORS,
    params: PanelDocumentParams,
    body: CreateVersionRequest,
    example: {
      body: {
        language: 'en',
        title: 'Cookie policy',
        media_type: 'text/markdown',
        content: '# Cookies\n\nWe count visits.',
      },
    },
    bodyLimit: CONTENT_BODY_LIMIT,
    status: 201,
    response: dataOf(DocumentVersion),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'document_version.create',
    change: async ({ params, body }, db) => {
      const { site_id: siteId, document_id: documentId } = params;
      const { media_type: mediaType, ...rest } = body;
      const { id } = await draftVersion(db, { siteId, documentId, mediaType, ...rest });
      const data = await versionShown(db, siteId, documentId, id);
      return { response: { data }, ...versionAudit(data, siteId) };
    },
  }),
  route({
    ...one,
    id: 'readDocumentVersion',
    path: version,
    summary: 'Get a version, without its content',
    roles: READERS,
    response: dataOf(DocumentVersion),
    handle: async ({ params }, { apiPool }) => ({
      data: await versionShown(apiPool, params.site_id, params.document_id, params.version_id),
    }),
  }),
  route({
    ...one,
    id: 'changeDocumentVersion',
    method: 'patch',
    path: version,
    summary: 'Change a draft',
    description: 'A published version cannot be changed: 409 WRONG_STATE.',
    roles: EDITORS,
    body: ChangeVersionRequest,
    example: { body: { content: '# Cookies\n\nWe count visits, and nothing else.' } },
    bodyLimit: CONTENT_BODY_LIMIT,
    response: dataOf(DocumentVersion),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'document_version.change',
    change: async ({ params, body }, db) => {
      const { site_id: siteId, document_id: documentId, version_id: id } = params;
      await versionShown(db, siteId, documentId, id);
      const { title, media_type: mediaType, content } = body;
      const { changed, replaced } = await changeDraft(db, siteId, id, { title, mediaType, content });
      const data = await versionShown(db, siteId, documentId, id);
      const more = { changed: [...changed], replaced_content_sha256: replaced };
      return { response: { data }, ...versionAudit(data, siteId, more) };
    },
  }),
  route({
    ...one,
    id: 'deleteDocumentVersion',
    method: 'delete',
    path: version,
    summary: 'Delete a draft',
    roles: EDITORS,
    response: dataOf(Deleted.describe('The result.')),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'document_version.delete',
    change: async ({ params }, db) => {
      const { site_id: siteId, document_id: documentId, version_id: id } = params;
      const draft = await versionShown(db, siteId, documentId, id);
      await deleteDraft(db, siteId, id);
      return { response: { data: { id, deleted: true as const } }, ...versionAudit(draft, siteId) };
    },
  }),
  route({
    ...one,
    id: 'readDocumentVersionContent',
    path: `${version}/content`,
    summary: 'Download the exact bytes of a version',
    description: '`content_sha256` and the header Repr-Digest state their SHA-256.',
    roles: READERS,
    response: z.string(),
    download: { mediaType: '*/*', description: 'the bytes that people are asked to consent to, as an attachment' },
    handle: async ({ params, reply }, { apiPool }) => {
      const { slug } = await documentOf(apiPool, params.site_id, params.document_id);
      const version = await versionShown(apiPool, params.site_id, params.document_id, params.version_id);
      return sendContent(apiPool, reply, slug, version);
    },
  }),
  route({
    ...one,
    id: 'publishDocumentVersion',
    method: 'post',
    path: `${version}/publish`,
    summary: 'Publish a draft, whose text can never change from then on',
    description:
      'The hash of the text is written to the event log, sealed and stamped. With `content_sha256`, a draft that was changed meanwhile is refused. Consents can refer to the version once it is active.',
    roles: EDITORS,
    body: PublishVersionRequest,
    example: { body: { content_sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae' } },
    response: dataOf(DocumentVersion),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'document_version.publish',
    change: async ({ params, body }, db) => {
      const { site_id: siteId, document_id: documentId, version_id: id } = params;
      await versionShown(db, siteId, documentId, id);
      const published = await publishVersion(db, siteId, id, body?.content_sha256);
      const data = await versionShown(db, siteId, documentId, id);
      return { response: { data }, ...versionAudit(data, siteId, versionChangeDetails(published)) };
    },
  }),
  route({
    ...one,
    id: 'activateDocumentVersion',
    method: 'post',
    path: `${version}/activate`,
    summary: 'Activate a published version, and retire the active version of its language',
    roles: EDITORS,
    response: ActivatedVersion,
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'document_version.activate',
    change: async ({ params }, db) => {
      const { site_id: siteId, document_id: documentId, version_id: id } = params;
      await versionShown(db, siteId, documentId, id);
      const activated = await activateVersion(db, siteId, id);
      const data = await versionShown(db, siteId, documentId, id);
      const response = { data, retired_version_id: activated.retired };
      return { response, ...versionAudit(data, siteId, versionChangeDetails(activated)) };
    },
  }),
  route({
    ...one,
    id: 'retireDocumentVersion',
    method: 'post',
    path: `${version}/retire`,
    summary: 'Retire a version, to which consents can no longer refer',
    roles: EDITORS,
    response: dataOf(DocumentVersion),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'document_version.retire',
    change: async ({ params }, db) => {
      const { site_id: siteId, document_id: documentId, version_id: id } = params;
      await versionShown(db, siteId, documentId, id);
      const retired = await retireVersion(db, siteId, id);
      const data = await versionShown(db, siteId, documentId, id);
      return { response: { data }, ...versionAudit(data, siteId, versionChangeDetails(retired)) };
    },
  }),
];

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

/**
 * Sends the exact bytes of a version as a download. A text can contain scripts, which must not run in the origin of the
 * panel. It is therefore an attachment whose type browsers must not guess, and it is sandboxed if a browser displays it
 * anyway.
 */
export async function sendContent(
  db: Queryable,
  reply: FastifyReply,
  slug: string,
  version: DocumentVersion,
): Promise<FastifyReply> {
  const { media_type: mediaType, content_sha256: sha256, language, number } = version;
  const bytes = Buffer.from(await readContent(db, sha256));
  const name = `${slug}-${language}-${number ?? 'draft'}${extensionOf(mediaType)}`;
  return reply
    .headers({
      'content-type': isTextMediaType(mediaType) ? `${mediaType}; charset=utf-8` : mediaType,
      'content-disposition': `attachment; filename="${name}"`,
      'content-security-policy':
        "sandbox; default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
    })
    .send(bytes);
}

const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['text/plain', '.txt'],
  ['text/html', '.html'],
  ['text/markdown', '.md'],
  ['application/pdf', '.pdf'],
  ['application/json', '.json'],
]);

function extensionOf(mediaType: string): string {
  return EXTENSIONS.get(mediaType) ?? '';
}

/** Subject and details of the audit-log entry for a change of a version. */
function versionAudit(
  { id, document_id, language, number, content_sha256, publication }: DocumentVersion,
  siteId: string,
  more: JsonObject = {},
): { readonly subject: AuditSubject; readonly details: JsonObject } {
  return {
    subject: { kind: 'document_version', id },
    details: {
      site_id: siteId,
      document_id,
      language,
      number,
      content_sha256,
      publication_event_id: publication?.event_id ?? null,
      ...more,
    },
  };
}
