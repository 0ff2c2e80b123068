import type { FastifyReply, FastifyRequest } from 'fastify';
import { sha256 } from '../../../../schemas/crypto/digest.js';
import { toBase64url, utf8 } from '../../../../schemas/crypto/encoding.js';

/** A public document as it goes out. */
export interface PublicDocument {
  readonly contentType: string;
  readonly body: string | Uint8Array;
  readonly cacheControl: string;
  /** Values of `Link` (RFC 8288). */
  readonly links?: readonly string[];
}

/** For what changes with the configuration or the version of the service only. */
export const FOR_MINUTES = 'public, max-age=300';

/**
 * Answers GET and HEAD with a public document: readable by scripts of every origin, with a strong validator of its bytes, and 304 for whoever holds
 * them already (RFC 9110 §13.1.2).
 */
export function sendDocument(request: FastifyRequest, reply: FastifyReply, document: PublicDocument): FastifyReply {
  const bytes = typeof document.body === 'string' ? utf8(document.body) : document.body;
  const etag = `"${toBase64url(sha256(bytes).subarray(0, 18))}"`;
  reply.headers({
    etag,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'ETag, Link',
    'cache-control': document.cacheControl,
  });
  if (document.links !== undefined) reply.header('link', document.links.join(', '));
  if (holds(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.header('content-type', document.contentType).send(Buffer.from(bytes));
}

/** Compared weakly, as the RFC says for If-None-Match. */
function holds(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || (ifNoneMatch.match(/"[\x21\x23-\x7e]*"/g)?.includes(etag) ?? false);
}
