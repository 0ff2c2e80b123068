import { randomUUID } from 'node:crypto';
import { type LockedSite, noticeHead } from '../sites/change-site.js';
import { findVersion, type VersionRow, versionOf } from './document-version.js';
import { putPublication } from './publication.js';

/**
 * Publishes a version of the home site at a site that its document is attached to, as a version of
 * that site. Its id is another one, because the log publishes each version once, and its number is the
 * same unless the site has reached this number already.
 * @param version a published version of the home site; the commit is refused if its row was altered
 */
export async function publishAttached(site: LockedSite, version: Pick<VersionRow, 'id'>): Promise<VersionRow> {
  const id = randomUUID();
  const head = noticeHead(site);
  // Names the row among the changes, so that an altered one is found before the commit, and not copied.
  await site.db.query('update document_versions set state = state where id = $1', [version.id]);
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
 * Changes, at each attached site that has it in use, the version with the text of a version of the home
 * site.
 * @returns ids of the sites at which `change` was called
 */
export async function atAttached(
  sites: readonly LockedSite[],
  homeVersionId: string,
  change: (site: LockedSite, version: VersionRow) => Promise<unknown>,
): Promise<readonly string[]> {
  const siteIds: string[] = [];
  for (const site of sites) {
    const inUse = "v.home_version_id = $2 and v.state in ('published', 'active')";
    const version = await findVersion(site, inUse, [homeVersionId]);
    if (version === null) continue;
    await change(site, version);
    siteIds.push(site.siteId);
  }
  return siteIds;
}
