import { changeDocument } from '../../../tenancy/documents/change-document.js';
import { createDocument } from '../../../tenancy/documents/create-document.js';
import type { PanelDeps } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import { documentAudit } from './audit.js';
import * as operations from './operations.js';
import { documentList, documentOf } from './show-documents.js';
import { versionRoutes } from './version-routes.js';

/** Documents of one site, and their versions; the slug by which SDKs ask for a document is unique there. */
export function documentRoutes(deps: PanelDeps): readonly PanelRoute[] {
  const { apiPool } = deps;
  return [
    reads(operations.listDocuments, ({ params, query }) => documentList(apiPool, params.site_id, query)),
    changes(operations.createDocument, async ({ params: { site_id: siteId }, body }, transaction) => {
      const { slug, kind, requires_approval_token: requiresApprovalToken } = body;
      const { id } = await createDocument(transaction, { siteId, slug, kind, requiresApprovalToken });
      const data = await documentOf(transaction, siteId, id);
      return { response: { data }, ...documentAudit(data, siteId) };
    }),
    reads(operations.readDocument, async ({ params }) => ({
      data: await documentOf(apiPool, params.site_id, params.document_id),
    })),
    changes(operations.changeDocument, async ({ params, body }, transaction) => {
      const { site_id: siteId, document_id: documentId } = params;
      const { slug, kind, requires_approval_token: requiresApprovalToken } = body;
      const changed = await changeDocument(transaction, siteId, documentId, { slug, kind, requiresApprovalToken });
      const data = await documentOf(transaction, siteId, documentId);
      return { response: { data }, ...documentAudit(data, siteId, { changed: [...changed] }) };
    }),
    ...versionRoutes(deps),
  ];
}
