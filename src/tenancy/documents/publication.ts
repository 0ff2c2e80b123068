import { DOCUMENT_VERSION_PUBLISHED, DocumentVersionPublishedRecord } from '../../../schemas/events/notices.js';
import { type LockedSite, type noticeHead, putNotice } from '../sites/change-site.js';
import type { VersionRow } from './document-version.js';

/**
 * Queues the event of a version's publication at its site.
 * @param version as published, with its number
 * @throws Error if the version is a draft
 */
export async function putPublication(
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
