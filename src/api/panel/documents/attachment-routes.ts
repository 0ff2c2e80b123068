import { attachDocument, detachDocument } from '../../../tenancy/documents/attach-document.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import * as operations from './attachment-operations.js';
import { documentAudit } from './audit.js';
import { attachmentList, attachmentOf } from './show-attachments.js';
import { documentOf } from './show-documents.js';

/** The sites that a document is attached to, below its home site. */
export function attachmentRoutes({ apiPool }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(operations.listAttachments, ({ params, query }) =>
      attachmentList(apiPool, params.site_id, params.document_id, query),
    ),
    changes(operations.attachDocument, async ({ params }, db) => {
      const { site_id: siteId, document_id: documentId, attached_site_id: attachedSiteId } = params;
      const { changed } = await attachDocument(db, siteId, documentId, attachedSiteId);
      const data = await attachmentOf(db, documentId, attachedSiteId);
      const more = { attached_site_id: attachedSiteId, changed };
      return { response: { data }, ...documentAudit(await documentOf(db, siteId, documentId), siteId, more) };
    }),
    changes(operations.detachDocument, async ({ params }, db) => {
      const { site_id: siteId, document_id: documentId, attached_site_id: attachedSiteId } = params;
      const document = await documentOf(db, siteId, documentId);
      const data = await attachmentOf(db, documentId, attachedSiteId);
      await detachDocument(db, siteId, documentId, attachedSiteId);
      const more = { attached_site_id: attachedSiteId };
      return { response: { data }, ...documentAudit(document, siteId, more) };
    }),
  ];
}
