import { DOCUMENT_VERSION_ACTIVATED, DocumentVersionStateRecord } from '../../../schemas/events/notices.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { type LockedSite, noticeHead, putNotice } from '../sites/change-site.js';
import { atAttached } from './attached-versions.js';
import { changeVersion } from './document-sites.js';
import { activeVersionOf, type VersionRow } from './document-version.js';
import { retire } from './retire-version.js';

/**
 * Activates a published version at every site that uses its document, and retires the version that
 * was active in the same language. An active version remains unchanged.
 * @param siteId home site of the document
 * @returns whether the version was changed, the id of the retired version of the home site or null, and
 *   the sites to which the document is attached and where the same was done
 * @throws ChangeRefused `not_found`, `wrong_state` (a draft, a retired version: publish its text as a
 *   new version; or a version of a site that the document is attached to)
 */
export function activateVersion(
  db: Queryable,
  siteId: string,
  versionId: string,
): Promise<{
  readonly changed: boolean;
  readonly retired: string | null;
  readonly attachedSiteIds: readonly string[];
}> {
  return changeVersion(db, siteId, versionId, async ({ home, attached }, version) => {
    if (version.state === 'active') return { changed: false, retired: null, attachedSiteIds: [] };
    if (version.state !== 'published') {
      throw new ChangeRefused('wrong_state', `The version is ${version.state}; only a published one can be activated.`);
    }
    const attachedSiteIds = await atAttached(attached, versionId, activate);
    return { changed: true, retired: await activate(home, version), attachedSiteIds };
  });
}

/**
 * Activates a published version at its site alone. The caller holds the lock on the site.
 * @returns the id of the version that was active before, or null
 */
export async function activate(site: LockedSite, version: VersionRow): Promise<string | null> {
  const before = await activeVersionOf(site, version.document_id, version.language);
  if (before !== null) await retire(site, before);
  await site.db.query("update document_versions set state = 'active', activated_at = $2 where id = $1", [
    version.id,
    site.now,
  ]);
  await putNotice(site, DOCUMENT_VERSION_ACTIVATED, DocumentVersionStateRecord, {
    ...noticeHead(site),
    document_id: version.document_id,
    document_version_id: version.id,
  });
  return before?.id ?? null;
}
