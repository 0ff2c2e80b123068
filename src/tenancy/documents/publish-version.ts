import { z } from 'zod';
import { DOCUMENT_VERSION_PUBLISHED, DocumentVersionPublishedRecord } from '../../../schemas/events/notices.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors/change-refused.js';
import { changeSite, noticeHead, putNotice } from '../sites/change-site.js';
import { versionOf } from './document-version.js';

export interface PublishedVersion {
  /** Number within its document and language, from 1 without gaps. */
  readonly number: number;
  readonly eventId: string;
  readonly contentSha256: string;
}

/**
 * Publishes a draft. From then on its text is immutable. Consents may refer to it once it is
 * active.
 * @param expectedSha256 expected hash of the content; undefined: any
 * @throws ChangeRefused `not_found`, `wrong_state` (no draft, or other content)
 */
export function publishVersion(
  db: Queryable,
  siteId: string,
  versionId: string,
  expectedSha256?: string,
): Promise<PublishedVersion> {
  return changeSite(db, siteId, async (site) => {
    const version = await versionOf(site, versionId);
    if (version.state !== 'draft') {
      throw new ChangeRefused('wrong_state', `The version is ${version.state}; only a draft can be published.`);
    }
    if (expectedSha256 !== undefined && expectedSha256 !== version.content_sha256) {
      throw new ChangeRefused(
        'wrong_state',
        `The draft was changed: its content now has the hash ${version.content_sha256}. Read the draft again.`,
      );
    }
    const head = noticeHead(site);
    const { rows } = await site.db.query(
      `update document_versions set state = 'published', published_at = $2, event_id = $3, number = 1 + coalesce(
         (select max(number) from document_versions where document_id = $4 and language = $5), 0)
        where id = $1 returning number`,
      [versionId, site.now, head.event_id, version.document_id, version.language],
    );
    const [{ number }] = NumberRow.parse(rows);
    await putNotice(site, DOCUMENT_VERSION_PUBLISHED, DocumentVersionPublishedRecord, {
      ...head,
      document_id: version.document_id,
      document_version_id: versionId,
      slug: version.slug,
      kind: version.kind,
      title: version.title,
      language: version.language,
      number,
      media_type: version.media_type,
      content_sha256: version.content_sha256,
      requires_approval_token: version.requires_approval_token,
    });
    return { number, eventId: head.event_id, contentSha256: version.content_sha256 };
  });
}

const NumberRow = z.tuple([z.object({ number: z.int() })]);
