import { DOCUMENT_VERSION_ACTIVATED, DocumentVersionStateRecord } from '../../../schemas/events/notices.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors/change-refused.js';
import { changeSite, noticeHead, putNotice } from '../sites/change-site.js';
import { activeVersionOf, versionOf } from './document-version.js';
import { retire } from './retire-version.js';

/**
 * Activates a published version, and retires the version that was active in the same language. An
 * active version remains unchanged.
 * @returns whether the version was changed, and the id of the retired version or null
 * @throws ChangeRefused `not_found`, `wrong_state` (a draft, or a retired version: publish its text
 *   as a new version)
 */
export function activateVersion(
  db: Queryable,
  siteId: string,
  versionId: string,
): Promise<{ readonly changed: boolean; readonly retired: string | null }> {
  return changeSite(db, siteId, async (site) => {
    const version = await versionOf(site, versionId);
    if (version.state === 'active') return { changed: false, retired: null };
    if (version.state !== 'published') {
      throw new ChangeRefused('wrong_state', `The version is ${version.state}; only a published one can be activated.`);
    }
    const before = await activeVersionOf(site, version.document_id, version.language);
    if (before !== null) await retire(site, before);
    await site.db.query("update document_versions set state = 'active', activated_at = $2 where id = $1", [
      versionId,
      site.now,
    ]);
    await putNotice(site, DOCUMENT_VERSION_ACTIVATED, DocumentVersionStateRecord, {
      ...noticeHead(site),
      document_id: version.document_id,
      document_version_id: versionId,
    });
    return { changed: true, retired: before?.id ?? null };
  });
}
