import { DOCUMENT_VERSION_RETIRED, DocumentVersionStateRecord } from '../../../schemas/events/notices.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { type LockedSite, noticeHead, putNotice } from '../sites/change-site.js';
import { atAttached } from './attached-versions.js';
import { changeVersion } from './document-sites.js';
import type { VersionRow } from './document-version.js';

/**
 * Retires a version at every site that uses its document. From then on, consents must not refer to
 * it. A retired version remains unchanged.
 * @param siteId home site of the document
 * @returns whether the version was changed, and the sites to which the document is attached and where
 *   the same was done
 * @throws ChangeRefused `not_found`, `wrong_state` (a draft, or a version of a site that the document
 *   is attached to)
 */
export function retireVersion(
  db: Queryable,
  siteId: string,
  versionId: string,
): Promise<{ readonly changed: boolean; readonly attachedSiteIds: readonly string[] }> {
  return changeVersion(db, siteId, versionId, async ({ home, attached }, version) => {
    if (version.state === 'retired') return { changed: false, attachedSiteIds: [] };
    if (version.state === 'draft') {
      throw new ChangeRefused('wrong_state', 'The version is a draft. Only a published version can be retired.');
    }
    await retire(home, version);
    return { changed: true, attachedSiteIds: await atAttached(attached, versionId, retire) };
  });
}

/** Retires a version at its site alone. The caller holds the lock on the site. */
export async function retire(site: LockedSite, version: VersionRow): Promise<void> {
  await site.db.query("update document_versions set state = 'retired', retired_at = $2 where id = $1", [
    version.id,
    site.now,
  ]);
  await putNotice(site, DOCUMENT_VERSION_RETIRED, DocumentVersionStateRecord, {
    ...noticeHead(site),
    document_id: version.document_id,
    document_version_id: version.id,
  });
}
