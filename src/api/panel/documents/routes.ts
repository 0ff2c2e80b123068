import { changeDocument, createDocument } from '../../../tenancy/documents/documents.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import { attachmentRoutes } from './attachment-routes.js';
import { documentAudit } from './audit.js';
import * as operations from './operations.js';
import { documentList, documentOf } from './show-documents.js';
import { versionRoutes } from './version-routes.js';

/**
 * Documents that one site uses, and their versions; the slug by which SDKs ask for a document is
 * unique there.
 */
export function documentRoutes(options: PanelRoutesOptions): readonly PanelRoute[] {
  const { apiPool } = options;
  return [
    reads(operations.listDocuments, ({ params, query }) => documentList(apiPool, params.site_id, query)),
    changes(operations.createDocument, async ({ params: { site_id: siteId }, body }, db) => {
      const { slug, kind, requires_approval_token: requiresApprovalToken } = body;
      const { id } = await createDocument(db, { siteId, slug, kind, requiresApprovalToken });
      const data = await documentOf(db, siteId, id);
      return { response: { data }, ...documentAudit(data, siteId) };
    }),
    reads(operations.readDocument, async ({ params }) => ({
      data: await documentOf(apiPool, params.site_id, params.document_id),
    })),
    changes(operations.changeDocument, async ({ params, body }, db) => {
      const { site_id: siteId, document_id: documentId } = params;
      const { slug, kind, requires_approval_token: requiresApprovalToken } = body;
      const changed = await changeDocument(db, siteId, documentId, { slug, kind, requiresApprovalToken });
      const data = await documentOf(db, siteId, documentId);
      return { response: { data }, ...documentAudit(data, siteId, { changed: [...changed] }) };
    }),
    ...attachmentRoutes(options),
    ...versionRoutes(options),
  ];
}
