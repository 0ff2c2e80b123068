import { versionChangeDetails } from '../../../tenancy/documents/document-version.js';
import { changeDraft, deleteDraft, draftVersion } from '../../../tenancy/documents/drafts.js';
import { activateVersion, publishVersion, retireVersion } from '../../../tenancy/documents/version-states.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changes, downloads, type PanelRoute, reads } from '../route.js';
import { versionAudit } from './audit.js';
import { sendContent } from './send-content.js';
import { documentOf } from './show-documents.js';
import { versionList, versionShown } from './show-versions.js';
import * as operations from './version-operations.js';

/**
 * Each looks the version up below its document and site first: an id of another is unknown here.
 */
export function versionRoutes({ apiPool }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(operations.listVersions, ({ params, query }) =>
      versionList(apiPool, params.site_id, params.document_id, query),
    ),
    changes(operations.createVersion, async ({ params, body }, db) => {
      const { site_id: siteId, document_id: documentId } = params;
      const { media_type: mediaType, ...rest } = body;
      const { id } = await draftVersion(db, { siteId, documentId, mediaType, ...rest });
      const data = await versionShown(db, siteId, documentId, id);
      return { response: { data }, ...versionAudit(data, siteId) };
    }),
    reads(operations.readVersion, async ({ params }) => ({
      data: await versionShown(apiPool, params.site_id, params.document_id, params.version_id),
    })),
    changes(operations.changeVersion, async ({ params, body }, db) => {
      const { site_id: siteId, document_id: documentId, version_id: id } = params;
      await versionShown(db, siteId, documentId, id);
      const { title, media_type: mediaType, content } = body;
      const { changed, replaced } = await changeDraft(db, siteId, id, { title, mediaType, content });
      const data = await versionShown(db, siteId, documentId, id);
      const more = { changed: [...changed], replaced_content_sha256: replaced };
      return { response: { data }, ...versionAudit(data, siteId, more) };
    }),
    changes(operations.deleteVersion, async ({ params }, db) => {
      const { site_id: siteId, document_id: documentId, version_id: id } = params;
      const draft = await versionShown(db, siteId, documentId, id);
      await deleteDraft(db, siteId, id);
      return { response: { data: { id, deleted: true as const } }, ...versionAudit(draft, siteId) };
    }),
    downloads(operations.readContent, async ({ params }, reply) => {
      const { slug } = await documentOf(apiPool, params.site_id, params.document_id);
      const version = await versionShown(apiPool, params.site_id, params.document_id, params.version_id);
      await sendContent(apiPool, reply, slug, version);
    }),
    changes(operations.publishVersion, async ({ params, body }, db) => {
      const { site_id: siteId, document_id: documentId, version_id: id } = params;
      await versionShown(db, siteId, documentId, id);
      const published = await publishVersion(db, siteId, id, body?.content_sha256);
      const data = await versionShown(db, siteId, documentId, id);
      return { response: { data }, ...versionAudit(data, siteId, versionChangeDetails(published)) };
    }),
    changes(operations.activateVersion, async ({ params }, db) => {
      const { site_id: siteId, document_id: documentId, version_id: id } = params;
      await versionShown(db, siteId, documentId, id);
      const activated = await activateVersion(db, siteId, id);
      const data = await versionShown(db, siteId, documentId, id);
      const response = { data, retired_version_id: activated.retired };
      return { response, ...versionAudit(data, siteId, versionChangeDetails(activated)) };
    }),
    changes(operations.retireVersion, async ({ params }, db) => {
      const { site_id: siteId, document_id: documentId, version_id: id } = params;
      await versionShown(db, siteId, documentId, id);
      const retired = await retireVersion(db, siteId, id);
      const data = await versionShown(db, siteId, documentId, id);
      return { response: { data }, ...versionAudit(data, siteId, versionChangeDetails(retired)) };
    }),
  ];
}
