import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { DocumentVersionPublishedRecord } from '../../../schemas/events/notices.js';
import { Uuid } from '../../../schemas/evidence/primitives.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';
import { changeSite, type LockedSite } from '../sites/change-site.js';
import { contentBytes, dropUnusedContent, isTextMediaType, keepContent } from './content.js';
import { lockHomeDocument } from './document-sites.js';
import { type VersionRow, versionOf } from './document-version.js';

export const NewVersion = z.object({
  siteId: Uuid,
  documentId: Uuid,
  language: DocumentVersionPublishedRecord.shape.language,
  title: DocumentVersionPublishedRecord.shape.title,
  /** The media type in lower case, without parameters. */
  mediaType: z.string(),
  /** The text, or base64 for a binary media type. */
  content: z.string(),
});
export type NewVersion = z.infer<typeof NewVersion>;

/** Maximum number of drafts of one document. */
const MAX_DRAFTS = 20;
const DraftCount = z.tuple([z.object({ drafts: z.int() })]);

/**
 * Adds a draft version to a document. Publication assigns its number.
 * @throws ChangeRefused `invalid`, `not_found`, `wrong_state` (the document has the maximum number of
 *   drafts, or it is attached to the site)
 */
export async function draftVersion(
  db: Queryable,
  version: NewVersion,
): Promise<{ readonly id: string; readonly contentSha256: string }> {
  const checked = accepted(NewVersion, version);
  const { siteId, documentId, mediaType, content } = checked;
  const bytes = contentBytes(mediaType, content);
  return withTransaction(db, async (db) => {
    await lockHomeDocument(db, siteId, documentId);
    return changeSite(db, siteId, ({ db }) => insertDraft(db, checked, bytes));
  });
}

async function insertDraft(
  client: Queryable,
  { siteId, documentId, language, title, mediaType }: NewVersion,
  bytes: Uint8Array,
): Promise<{ readonly id: string; readonly contentSha256: string }> {
  const { rows } = await client.query(
    "select count(*)::integer as drafts from document_versions where document_id = $1 and state = 'draft'",
    [documentId],
  );
  if (DraftCount.parse(rows)[0].drafts >= MAX_DRAFTS) {
    throw new ChangeRefused(
      'wrong_state',
      `The document already has ${MAX_DRAFTS} drafts, which is the limit. Publish, change or delete one of them.`,
    );
  }
  const contentSha256 = await keepContent(client, bytes);
  const id = randomUUID();
  await client.query(
    `insert into document_versions (id, document_id, site_id, language, title, media_type, content_sha256, state)
     values ($1, $2, $3, $4, $5, $6, $7, 'draft')`,
    [id, documentId, siteId, language, title, mediaType, contentSha256],
  );
  return { id, contentSha256 };
}

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
 * Refuses another media type without new content, except between two text types, because it would change the meaning of
 * the bytes.
 */
function refuseOtherReading(before: string, after: string): void {
  contentBytes(after, isTextMediaType(after) ? '-' : 'AA==');
  if (isTextMediaType(before) && isTextMediaType(after)) return;
  const message =
    'To change the media type, send `content` too. Only a change between two text types keeps the content.';
  throw new ChangeRefused('invalid', message, [{ field: 'media_type', message }]);
}
