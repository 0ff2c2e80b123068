import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { noticeHead } from '../sites/change-site.js';
import { publishAttached } from './attached-versions.js';
import { changeVersion } from './document-sites.js';
import { putPublication } from './publication.js';

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
 * @param expectedSha256 expected hash of the content; undefined: any
 * @throws ChangeRefused `not_found`, `wrong_state` (no draft, or other content)
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

const NumberRow = z.tuple([z.object({ number: z.int() })]);
