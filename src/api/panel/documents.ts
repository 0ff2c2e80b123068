import * as z from 'zod';
import { dataOf, pageOf, SiteParams } from '../../../schemas/api/panel/common.js';
import {
  ChangeDocumentRequest,
  CreateDocumentRequest,
  DocumentsQuery,
  PanelDocument,
  PanelDocumentParams,
} from '../../../schemas/api/panel/documents.js';
import { DOCUMENT_KINDS } from '../../../schemas/events/notices.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { type AuditSubject, beforeAndAfter } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { changeDocument, createDocument } from '../../tenancy/documents/documents.js';
import { EDITORS, READERS } from './caller.js';
import { route } from './deps.js';
import { keyOfCursor, type Page, pageOfRows } from './page.js';

const shared = { auth: 'panel', tag: 'Documents', params: SiteParams } as const;
const one = { ...shared, params: PanelDocumentParams, errors: ['RESOURCE_NOT_FOUND'] } as const;

/**
 * Documents that one site uses, and their versions; the slug by which SDKs ask for a document is
 * unique there.
 */
export const DOCUMENT_OPERATIONS = [
  route({
    ...shared,
    id: 'listDocuments',
    path: '/api/v1/sites/{site_id}/documents',
    summary: 'List the documents of a site and those attached to it, by slug',
    roles: READERS,
    query: DocumentsQuery,
    response: pageOf(PanelDocument),
    handle: ({ params, query }, { apiPool }) => documentList(apiPool, params.site_id, query),
  }),
  route({
    ...shared,
    id: 'createDocument',
    method: 'post',
    path: '/api/v1/sites/{site_id}/documents',
    summary: 'Create a document, without versions',
    description:
      'Documents are never deleted, because the evidence of consents to them remains. 409 ALREADY_EXISTS if a document of the site, or one attached to it, has the slug.',
    roles: EDITORS,
    body: CreateDocumentRequest,
    example: { body: { slug: 'cookie-policy', kind: 'cookie_policy' } },
    status: 201,
    response: dataOf(PanelDocument),
    errors: ['ALREADY_EXISTS'],
    action: 'document.create',
    change: async ({ params: { site_id: siteId }, body }, db) => {
      const { slug, kind, requires_approval_token: requiresApprovalToken } = body;
      const { id } = await createDocument(db, { siteId, slug, kind, requiresApprovalToken });
      const data = await documentOf(db, siteId, id);
      return { response: { data }, ...documentAudit(data, siteId) };
    },
  }),
  route({
    ...one,
    id: 'readDocument',
    path: '/api/v1/sites/{site_id}/documents/{document_id}',
    summary: 'Get a document, with its active version in each language',
    roles: READERS,
    response: dataOf(PanelDocument),
    handle: async ({ params }, { apiPool }) => ({
      data: await documentOf(apiPool, params.site_id, params.document_id),
    }),
  }),
  route({
    ...one,
    id: 'changeDocument',
    method: 'patch',
    path: '/api/v1/sites/{site_id}/documents/{document_id}',
    summary: 'Change a document',
    description:
      'The event log has slug, kind and requires_approval_token of every published version. Therefore slug and kind can be changed until the first publication, and requires_approval_token while no version is published or active. 409 WRONG_STATE at a site that the document is attached to.',
    roles: EDITORS,
    body: ChangeDocumentRequest,
    example: { body: { requires_approval_token: true } },
    response: dataOf(PanelDocument),
    errors: ['RESOURCE_NOT_FOUND', 'ALREADY_EXISTS', 'WRONG_STATE'],
    action: 'document.change',
    change: async ({ params, body }, db) => {
      const { site_id: siteId, document_id: documentId } = params;
      const { slug, kind, requires_approval_token: requiresApprovalToken } = body;
      const before = await documentOf(db, siteId, documentId);
      const changed = await changeDocument(db, siteId, documentId, { slug, kind, requiresApprovalToken });
      const data = await documentOf(db, siteId, documentId);
      return {
        response: { data },
        ...documentAudit(data, siteId, { changed: [...changed], ...beforeAndAfter(before, data, SETTINGS) }),
      };
    },
  }),
];

/** Settings whose values before and after a change are in the audit log. */
const SETTINGS = ['slug', 'kind', 'requires_approval_token'] as const;

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

/** Reads one document that a site uses, or used until it was detached. @throws ChangeRefused `not_found` */
export async function documentOf(db: Queryable, siteId: string, documentId: string): Promise<PanelDocument> {
  const { rows } = await db.query(`${KNOWN} and d.id = $2`, [siteId, documentId]);
  const [row] = z.array(DocumentRow).parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `The site has no document ${documentId}.`);
  return shown(row);
}

function shown(row: z.infer<typeof DocumentRow>): PanelDocument {
  return { ...row, created_at: row.created_at.toISOString() };
}

/** Subject and details of the audit-log entry for a change of a document, by a user or an operator. */
export function documentAudit(
  { id, slug, kind, requires_approval_token }: PanelDocument,
  siteId: string,
  more: JsonObject = {},
): { readonly subject: AuditSubject; readonly details: JsonObject } {
  return {
    subject: { kind: 'document', id },
    details: { site_id: siteId, slug, kind, requires_approval_token, ...more },
  };
}
