import type { FastifyReply, FastifyRequest } from 'fastify';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64url, utf8 } from '../../../schemas/crypto/encoding.js';

/** What a public document is, before it is made ready to be sent. */
export interface DocumentContent {
  readonly contentType: string;
  readonly body: string | Uint8Array;
  readonly cacheControl: string;
  /** Values of `Link` (RFC 8288). */
  readonly links?: readonly string[];
}

/** A public document as it goes out. */
export interface PublicDocument {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** A strong validator of the bytes (RFC 9110 §8.8.3). */
  readonly etag: string;
  /** What 304 carries too (RFC 9110 §15.4.5). */
  readonly headers: Readonly<Record<string, string>>;
}

/** For what changes with the configuration or the version of the service only. */
export const FOR_MINUTES = 'public, max-age=300';

/** Makes a document ready: once for many answers, where it does not change. */
export function publicDocument({ contentType, body, cacheControl, links }: DocumentContent): PublicDocument {
  const bytes = Buffer.from(typeof body === 'string' ? utf8(body) : body);
  const etag = `"${toBase64url(sha256(bytes).subarray(0, 18))}"`;
  return {
    bytes,
    contentType,
    etag,
    headers: {
      etag,
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'ETag, Link',
      'cache-control': cacheControl,
      ...(links !== undefined && { link: links.join(', ') }),
    },
  };
}

/**
 * Answers GET and HEAD: to scripts of every origin, and with 304 to whoever holds the bytes already
 * (RFC 9110 §13.1.2).
 */
export function sendDocument(request: FastifyRequest, reply: FastifyReply, document: PublicDocument): FastifyReply {
  reply.headers(document.headers);
  if (holds(request.headers['if-none-match'], document.etag)) return reply.code(304).send();
  return reply.header('content-type', document.contentType).send(document.bytes);
}

/** Compared weakly, as the RFC says for If-None-Match. */
function holds(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || (ifNoneMatch.match(/"[\x21\x23-\x7e]*"/g)?.includes(etag) ?? false);
}
