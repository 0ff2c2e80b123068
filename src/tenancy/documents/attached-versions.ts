import { randomUUID } from 'node:crypto';
import { type LockedSite, noticeHead } from '../sites/change-site.js';
import { findVersion, type VersionRow, versionOf } from './document-version.js';
import { putPublication } from './publication.js';

/**
 * Publishes a version of the home site at a site that its document is attached to, as a version of
 * that site. Its id is another one, because the log publishes each version once, and its number is the
 * same unless the site has reached this number already.
 * @param version a published version of the home site
 */
export async function publishAttached(site: LockedSite, version: Pick<VersionRow, 'id'>): Promise<VersionRow> {
  const id = randomUUID();
  const head = noticeHead(site);
  await site.db.query(
    `insert into document_versions (id, document_id, site_id, home_version_id, language, number, title, media_type,
            content_sha256, state, event_id, published_at)
     select $1, v.document_id, $2, v.id, v.language,
            greatest(v.number, 1 + (select max(w.number) from document_versions w
              where w.document_id = v.document_id and w.site_id = $2 and w.language = v.language)),
            v.title, v.media_type, v.content_sha256, 'published', $3, $4
       from document_versions v where v.id = $5`,
    [id, site.siteId, head.event_id, site.now, version.id],
  );
  const attached = await versionOf(site, id);
  await putPublication(site, head, attached);
  return attached;
}

/**
 * Finds the version in use of an attached site that has the text of a version of the home site.
 * @returns null if there is none
 */
export function attachedVersionOf(site: LockedSite, homeVersionId: string): Promise<VersionRow | null> {
  return findVersion(site, "v.home_version_id = $2 and v.state in ('published', 'active')", [homeVersionId]);
}
