import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { DocumentVersionPublishedRecord } from '../../../schemas/events/notices.js';
import { Uuid } from '../../../schemas/evidence/primitives.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';
import { changeSite } from '../sites/change-site.js';
import { contentBytes } from './document-content.js';
import { lockHomeDocument } from './document-sites.js';
import { keepContent } from './notice-contents.js';

export const NewVersion = z.object({
  siteId: Uuid,
  documentId: Uuid,
  language: DocumentVersionPublishedRecord.shape.language,
  title: DocumentVersionPublishedRecord.shape.title,
  /** In lower case, without parameters. */
  mediaType: z.string(),
  /** The text, or base64 for a binary media type. */
  content: z.string(),
});
export type NewVersion = z.infer<typeof NewVersion>;

/** Most drafts of one document. */
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
