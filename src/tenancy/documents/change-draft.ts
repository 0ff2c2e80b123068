import type * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';
import { changeSite, type LockedSite } from '../sites/change-site.js';
import { contentBytes, isTextMediaType } from './document-content.js';
import { type VersionRow, versionOf } from './document-version.js';
import { NewVersion } from './draft-version.js';
import { dropUnusedContent, keepContent } from './notice-contents.js';

export const DraftChange = NewVersion.pick({ title: true, mediaType: true, content: true }).partial();
export type DraftChange = z.infer<typeof DraftChange>;

/**
 * Changes title, media type or content of a draft.
 * @returns the names of the members whose values changed, and the hash of the replaced content
 * @throws ChangeRefused `invalid`, `not_found`, `wrong_state` (a published version is immutable)
 */
export function changeDraft(
  db: Queryable,
  siteId: string,
  versionId: string,
  change: DraftChange,
): Promise<{ readonly changed: readonly string[]; readonly replaced: string | null }> {
  const checked = accepted(DraftChange, change);
  return changeSite(db, siteId, async (site) => {
    const draft = await draftOf(site, versionId, 'changed');
    const { title = draft.title, mediaType = draft.media_type, content } = checked;
    if (content === undefined && mediaType !== draft.media_type) refuseOtherReading(draft.media_type, mediaType);
    const contentSha256 =
      content === undefined ? draft.content_sha256 : await keepContent(site.db, contentBytes(mediaType, content));
    await site.db.query('update document_versions set title = $2, media_type = $3, content_sha256 = $4 where id = $1', [
      versionId,
      title,
      mediaType,
      contentSha256,
    ]);
    const isOtherContent = contentSha256 !== draft.content_sha256;
    if (isOtherContent) await dropUnusedContent(site.db, draft.content_sha256);
    const changed = [
      ...(title === draft.title ? [] : ['title']),
      ...(mediaType === draft.media_type ? [] : ['media_type']),
      ...(isOtherContent ? ['content'] : []),
    ];
    return { changed, replaced: isOtherContent ? draft.content_sha256 : null };
  });
}

/**
 * Deletes a draft, and its content unless another version has the same.
 * @throws ChangeRefused `not_found`, `wrong_state` (a published version cannot be deleted)
 */
export function deleteDraft(
  db: Queryable,
  siteId: string,
  versionId: string,
): Promise<{ readonly contentSha256: string }> {
  return changeSite(db, siteId, async (site) => {
    const { content_sha256: contentSha256 } = await draftOf(site, versionId, 'deleted');
    await site.db.query('delete from document_versions where id = $1', [versionId]);
    await dropUnusedContent(site.db, contentSha256);
    return { contentSha256 };
  });
}

async function draftOf(site: LockedSite, versionId: string, verb: string): Promise<VersionRow> {
  const version = await versionOf(site, versionId);
  if (version.state === 'draft') return version;
  throw new ChangeRefused('wrong_state', `The version is ${version.state}; only a draft can be ${verb}.`);
}

/**
 * Without new content, only a change between two text types is valid: any other would give the
 * bytes another meaning.
 */
function refuseOtherReading(before: string, after: string): void {
  contentBytes(after, isTextMediaType(after) ? '-' : 'AA==');
  if (isTextMediaType(before) && isTextMediaType(after)) return;
  const message =
    'To change the media type, send `content` too. Only a change between two text types keeps the content.';
  throw new ChangeRefused('invalid', message, [{ field: 'media_type', message }]);
}
