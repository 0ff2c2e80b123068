import { decodeUtf8, fromBase64, toBase64, utf8 } from '../../../schemas/crypto/encoding.js';
import { ChangeRefused } from '../../platform/errors.js';

/** Largest content of a document version, in bytes. */
const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024;

/** Largest text in Markdown, in bytes. The dashboard draws it whole; long terms of use have 200 kB. */
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
