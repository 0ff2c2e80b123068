import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { sha256 } from '../../schemas/crypto/digest.js';
import { toHex } from '../../schemas/crypto/encoding.js';
import { DocumentVersionPublishedRecord } from '../../schemas/events/notices.js';
import type { Database } from '../database/pool.js';
import { CatalogueError } from './catalogue-error.js';
import { changeSite } from './change-site.js';
import { contentBytes } from './document-content.js';

export const NewVersion = z.object({
  siteId: z.uuid(),
  documentId: z.uuid(),
  language: DocumentVersionPublishedRecord.shape.language,
  title: DocumentVersionPublishedRecord.shape.title,
  /** In lower case, without parameters. */
  mediaType: z.string(),
  /** The text, or base64 for a binary media type. */
  content: z.string(),
});
export type NewVersion = z.infer<typeof NewVersion>;

/**
 * Adds a version to a document, as a draft, with the next number of its language.
 * @throws CatalogueError `invalid`, `not_found`
 */
export async function draftVersion(
  database: Database,
  version: NewVersion,
): Promise<{ readonly id: string; readonly number: number }> {
  const checked = NewVersion.safeParse(version);
  if (!checked.success) throw new CatalogueError('invalid', z.prettifyError(checked.error));
  const { siteId, documentId, language, title, mediaType, content } = checked.data;
  const bytes = contentBytes(mediaType, content);
  const contentSha256 = toHex(sha256(bytes));
  return changeSite(database, siteId, async ({ client }) => {
    const document = await client.query('select from documents where id = $1 and site_id = $2', [documentId, siteId]);
    if (document.rowCount === 0) throw new CatalogueError('not_found', `The site has no document ${documentId}.`);
    await client.query('insert into notice_contents (sha256, content) values ($1, $2) on conflict do nothing', [
      contentSha256,
      Buffer.from(bytes),
    ]);
    const id = randomUUID();
    const { rows } = await client.query(
      `insert into document_versions (id, document_id, site_id, language, number, title, media_type, content_sha256, state)
       select $1, $2, $3, $4::text, coalesce(max(number), 0) + 1, $5, $6, $7, 'draft'
         from document_versions where document_id = $2 and language = $4::text
       returning number`,
      [id, documentId, siteId, language, title, mediaType, contentSha256],
    );
    const [{ number }] = z.tuple([z.object({ number: z.int() })]).parse(rows);
    return { id, number };
  });
}
