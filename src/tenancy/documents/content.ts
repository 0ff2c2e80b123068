import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { decodeUtf8, fromBase64, toBase64, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import type { LockedSite } from '../sites/change-site.js';

/** Largest content of a document version, in bytes. */
const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024;

/** Largest Markdown text, in bytes. The dashboard renders it in one piece; long terms of use have 200 kB. */
const MAX_MARKDOWN_BYTES = 512 * 1024;

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/;

/**
 * Whether `content` of a media type is the text itself instead of base64: text/…, JSON and XML
 * types.
 */
export function isTextMediaType(mediaType: string): boolean {
  return mediaType.startsWith('text/') || /^application\/(?:.+\+)?(?:json|xml)$/.test(mediaType);
}

/**
 * Decodes the bytes of a document, over which its hash is computed.
 * @param content the text, or base64 for a binary media type
 * @throws ChangeRefused `invalid`
 */
export function contentBytes(mediaType: string, content: string): Uint8Array {
  if (!MEDIA_TYPE.test(mediaType) || mediaType.length > 100) {
    const message = 'must be in lower case and without parameters, for example text/html';
    throw new ChangeRefused('invalid', `The media type ${message}.`, [{ field: 'media_type', message }]);
  }
  const isText = isTextMediaType(mediaType);
  if (isText && (!content.isWellFormed() || content.includes('\u0000'))) {
    throw invalidContent('is not well-formed Unicode text');
  }
  const bytes = isText ? utf8(content) : fromBase64(content);
  if (bytes === null) throw invalidContent('is not canonical base64');
  const limit = mediaType === 'text/markdown' ? MAX_MARKDOWN_BYTES : MAX_DOCUMENT_BYTES;
  if (bytes.length === 0 || bytes.length > limit) {
    throw invalidContent(`must have 1 to ${limit} bytes; it has ${bytes.length}`);
  }
  return bytes;
}

function invalidContent(message: string): ChangeRefused {
  return new ChangeRefused('invalid', `The content ${message}.`, [{ field: 'content', message }]);
}

/**
 * Encodes the bytes as `content` of a response. The inverse of `contentBytes`.
 * @throws Error if the bytes of a text are not UTF-8
 */
export function contentOf(mediaType: string, bytes: Uint8Array): string {
  if (!isTextMediaType(mediaType)) return toBase64(bytes);
  const text = decodeUtf8(bytes);
  if (text === null) throw new Error('the content of a text is not UTF-8');
  return text;
}

/**
 * Reads the bytes of a notice.
 * @throws Error if they are missing or do not match their hash, so that an altered text is never
 *   shown
 */
export async function readContent(db: Queryable, contentSha256: string): Promise<Uint8Array> {
  const { rows } = await db.query('select content from notice_contents where sha256 = $1', [contentSha256]);
  const [row] = z.array(z.object({ content: z.instanceof(Uint8Array) })).parse(rows);
  if (row === undefined || toHex(sha256(row.content)) !== contentSha256) {
    throw new Error(`the notice ${contentSha256} is missing or altered`);
  }
  return row.content;
}

type Client = LockedSite['db'];

/**
 * Stores the bytes of a text by SHA-256. The lock until the end of the transaction prevents their
 * removal before a version refers to them.
 * @returns the SHA-256 in hex
 */
export async function keepContent(client: Client, bytes: Uint8Array): Promise<string> {
  const contentSha256 = toHex(sha256(bytes));
  await lockContents(client);
  await client.query('insert into notice_contents (sha256, content) values ($1, $2) on conflict do nothing', [
    contentSha256,
    Buffer.from(bytes),
  ]);
  return contentSha256;
}

/**
 * Deletes the bytes of a text to which no version refers, so that the text of a deleted draft is
 * not kept.
 */
export async function dropUnusedContent(client: Client, contentSha256: string): Promise<void> {
  await lockContents(client);
  await client.query(
    `delete from notice_contents where sha256 = $1
        and not exists (select from document_versions where content_sha256 = $1)`,
    [contentSha256],
  );
}

// Contents are shared by hash, even between tenants, so one lock covers them all.
async function lockContents(client: Client): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(hashtextextended('notice contents', 0))`);
}
