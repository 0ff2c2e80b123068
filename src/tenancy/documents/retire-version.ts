import { DOCUMENT_VERSION_RETIRED, DocumentVersionStateRecord } from '../../../schemas/events/notices.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors/change-refused.js';
import { changeSite, type LockedSite, noticeHead, putNotice } from '../sites/change-site.js';
import { type VersionRow, versionOf } from './document-version.js';

/**
 * Retires a version. From then on, consents must not refer to it. A retired version remains
 * unchanged.
 * @returns whether the version was changed
 * @throws ChangeRefused `not_found`, `wrong_state` (a draft)
 */
export function retireVersion(
  db: Queryable,
  siteId: string,
  versionId: string,
): Promise<{ readonly changed: boolean }> {
  return changeSite(db, siteId, async (site) => {
    const version = await versionOf(site, versionId);
    if (version.state === 'retired') return { changed: false };
    if (version.state === 'draft') {
      throw new ChangeRefused('wrong_state', 'The version is a draft. Only a published version can be retired.');
    }
    await retire(site, version);
    return { changed: true };
  });
}

/** Retires a version. The caller holds the lock on the site. */
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
