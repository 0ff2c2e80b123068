import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import {
  DOCUMENT_VERSION_ACTIVATED,
  DOCUMENT_VERSION_PUBLISHED,
  DOCUMENT_VERSION_RETIRED,
  DocumentVersionPublishedRecord,
  DocumentVersionStateRecord,
} from '../../../schemas/events/notices.js';
import { gapProblem, gapsIn } from '../../../schemas/text/gaps.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused, invalidChange } from '../../platform/errors.js';
import { type LockedSite, noticeHead, putNotice } from '../sites/change-site.js';
import { contentOf, isTextMediaType, readContent } from './content.js';
import { changeVersion } from './document-sites.js';
import { activeVersionOf, findVersion, type VersionRow, versionOf } from './document-version.js';

/**
 * Queues the event of a version's publication at its site.
 * @param version the published version, with its number
 * @throws Error if the version is a draft
 */
async function putPublication(
  site: LockedSite,
  head: ReturnType<typeof noticeHead>,
  version: VersionRow,
): Promise<void> {
  if (version.number === null) throw new Error(`version ${version.id} has no number`);
  await putNotice(site, DOCUMENT_VERSION_PUBLISHED, DocumentVersionPublishedRecord, {
    ...head,
    document_id: version.document_id,
    document_version_id: version.id,
    slug: version.slug,
    kind: version.kind,
    title: version.title,
    language: version.language,
    number: version.number,
    media_type: version.media_type,
    content_sha256: version.content_sha256,
    requires_approval_token: version.requires_approval_token,
  });
}

export interface PublishedVersion {
  /** Number within its document and language, from 1 without gaps. */
  readonly number: number;
  readonly eventId: string;
  readonly contentSha256: string;
  /** Sites to which the document is attached, where the version was published too. */
  readonly attachedSiteIds: readonly string[];
}

/**
 * Publishes a draft at every site that uses its document. From then on its text is immutable.
 * Consents may refer to it once it is active.
 * @param siteId home site of the document
 * @param expectedSha256 expected hash of the content; undefined permits any
 * @throws ChangeRefused `not_found`, `wrong_state` (no draft, or other content), `invalid` (a template's gap is not
 *   filled in)
 */
export function publishVersion(
  db: Queryable,
  siteId: string,
  versionId: string,
  expectedSha256?: string,
): Promise<PublishedVersion> {
  return changeVersion(db, siteId, versionId, async ({ home, attached }, version) => {
    if (version.state !== 'draft') {
      throw new ChangeRefused('wrong_state', `The version is ${version.state}; only a draft can be published.`);
    }
    if (expectedSha256 !== undefined && expectedSha256 !== version.content_sha256) {
      throw new ChangeRefused(
        'wrong_state',
        `The draft was changed: its content now has the hash ${version.content_sha256}. Read the draft again.`,
      );
    }
    await refuseGaps(home, version);
    const head = noticeHead(home);
    const { rows } = await home.db.query(
      `update document_versions set state = 'published', published_at = $2, event_id = $3, number = 1 + coalesce(
         (select max(number) from document_versions where document_id = $4 and site_id = $6 and language = $5), 0)
        where id = $1 returning number`,
      [versionId, home.now, head.event_id, version.document_id, version.language, siteId],
    );
    const [{ number }] = NumberRow.parse(rows);
    await putPublication(home, head, { ...version, number });
    for (const site of attached) await publishAttached(site, version);
    const attachedSiteIds = attached.map((site) => site.siteId);
    return { number, eventId: head.event_id, contentSha256: version.content_sha256, attachedSiteIds };
  });
}

/** A published text never changes, so a gap would stay in it. @throws ChangeRefused `invalid` */
async function refuseGaps({ db }: LockedSite, { title, media_type: mediaType, content_sha256 }: VersionRow) {
  const content = isTextMediaType(mediaType) ? contentOf(mediaType, await readContent(db, content_sha256)) : '';
  const problems = Object.entries({ title, content }).flatMap(([field, text]) => {
    const gaps = gapsIn(text);
    return gaps.length === 0 ? [] : [{ field, message: gapProblem(gaps) }];
  });
  if (problems.length > 0) throw invalidChange(...problems);
}

const NumberRow = z.tuple([z.object({ number: z.int() })]);

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
 * Activates a published version only at its own site. The caller holds the lock on the site.
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

/** Retires a version only at its own site. The caller holds the lock on the site. */
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

/**
 * Publishes a version of the home site at a site that its document is attached to, as a version of that site. Its id
 * differs, because the log publishes each version once. Its number is the same unless the site has already reached that
 * number.
 * @param version a published version of the home site; the commit is refused if its row was altered
 */
export async function publishAttached(site: LockedSite, version: Pick<VersionRow, 'id'>): Promise<VersionRow> {
  const id = randomUUID();
  const head = noticeHead(site);
  // Lists the row among the changes, so that an altered row is found before the commit instead of being copied.
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
async function atAttached(
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
