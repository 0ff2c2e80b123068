import type { FastifyReply, FastifyRequest } from 'fastify';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64url, utf8 } from '../../../schemas/crypto/encoding.js';

/** The content of a public document. */
export interface DocumentContent {
  readonly contentType: string;
  readonly body: string | Uint8Array;
  readonly cacheControl: string;
  /** Values of `Link` (RFC 8288). */
  readonly links?: readonly string[];
}

/** A public document with its headers, ready to send. */
export interface PublicDocument {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** A strong validator of the bytes (RFC 9110 §8.8.3). */
  readonly etag: string;
  /** Headers that a 304 response also has (RFC 9110 §15.4.5). */
  readonly headers: Readonly<Record<string, string>>;
}

/** For documents that change only with the configuration or the version of the service. */
export const FOR_MINUTES = 'public, max-age=300';

/** Prepares a document. A document that does not change is prepared once for many responses. */
export function publicDocument({ contentType, body, cacheControl, links }: DocumentContent): PublicDocument {
  return preparedDocument(contentType, body, {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'ETag, Link',
    'cache-control': cacheControl,
    ...(links !== undefined && { link: links.join(', ') }),
  });
}

/** Prepares a document with headers of its own. @param headers the headers, without ETag */
export function preparedDocument(
  contentType: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
): PublicDocument {
  const bytes = Buffer.from(typeof body === 'string' ? utf8(body) : body);
  const etag = `"${toBase64url(sha256(bytes).subarray(0, 18))}"`;
  return { bytes, contentType, etag, headers: { ...headers, etag } };
}

/**
 * Responds to GET and HEAD. Scripts of every origin may read the response. A client that has the
 * bytes gets 304 (RFC 9110 §13.1.2).
 */
export function sendDocument(request: FastifyRequest, reply: FastifyReply, document: PublicDocument): FastifyReply {
  reply.headers(document.headers);
  if (holds(request.headers['if-none-match'], document.etag)) return reply.code(304).send();
  return reply.header('content-type', document.contentType).send(document.bytes);
}

/** If-None-Match uses the weak comparison (RFC 9110 §13.1.2). */
export function holds(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || (ifNoneMatch.match(/"[\x21\x23-\x7e]*"/g)?.includes(etag) ?? false);
}
