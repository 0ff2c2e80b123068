import { DOCUMENT_VERSION_PUBLISHED, DocumentVersionPublishedRecord } from '../../schemas/events/notices.js';
import type { Database } from '../database/pool.js';
import { CatalogueError } from './catalogue-error.js';
import { changeSite, noticeHead, putNotice } from './change-site.js';
import { versionOf } from './document-version.js';

/**
 * Publishes a draft: from here on its text can never change. Consents may name it once it is active.
 * @throws CatalogueError `not_found`, `wrong_state`
 */
export function publishVersion(database: Database, siteId: string, versionId: string): Promise<void> {
  return changeSite(database, siteId, async (site) => {
    const version = await versionOf(site, versionId);
    if (version.state !== 'draft') {
      throw new CatalogueError('wrong_state', `The version is ${version.state}; only a draft can be published.`);
    }
    await site.client.query("update document_versions set state = 'published', published_at = $2 where id = $1", [
      versionId,
      site.now,
    ]);
    await putNotice(site, DOCUMENT_VERSION_PUBLISHED, DocumentVersionPublishedRecord, {
      ...noticeHead(site),
      document_id: version.document_id,
      document_version_id: versionId,
      slug: version.slug,
      kind: version.kind,
      title: version.title,
      language: version.language,
      number: version.number,
      media_type: version.media_type,
      content_sha256: version.content_sha256,
      requires_approval_token: version.requires_approval_token,
    });
  });
}
