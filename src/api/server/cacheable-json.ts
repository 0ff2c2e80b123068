import type { FastifyReply, FastifyRequest } from 'fastify';
import { preparedDocument, sendDocument } from './send-document.js';
import { LEAST_BYTES, StaticText } from './static-text.js';

const TYPE = 'application/json; charset=utf-8';
/** Bytes of the texts that are kept, without their compressed copies: the configurations of some thousand sites. */
const MOST_BYTES = 16 * 1024 * 1024;
/** A larger text is sent as it is: it would displace those that every visit loads. */
const MOST_BYTES_EACH = 256 * 1024;

/** An answer that a browser may cache. */
interface Answer {
  readonly data: object;
}

/**
 * Answers in JSON that a browser may cache: for a minute without a request, and for ten more minutes while it
 * revalidates. They depend on the key and the language of the request, so shared caches must not store them. Each text
 * is compressed once, and kept for those who ask for the same.
 *
 * Such an answer has what the site published, and the region that the address of the request shows. It has no secret,
 * whose bytes the length would tell to a stranger who can place words beside it (BREACH).
 */
export class CacheableJson {
  /** By entity tag, the one that was used last at the end. */
  readonly #kept = new Map<string, StaticText>();
  #bytes = 0;

  /** Responds to GET and HEAD, in the best coding that the client accepts. */
  send(request: FastifyRequest, reply: FastifyReply, body: Answer): FastifyReply | Promise<FastifyReply> {
    const document = preparedDocument(TYPE, JSON.stringify(body), {
      'cache-control': 'private, max-age=60, stale-while-revalidate=600',
      vary: 'Origin, X-API-Key, Accept-Language, Accept-Encoding',
    });
    // Warnings repeat words of the request, of which a stranger can send as many different ones as they like.
    const { length } = document.bytes;
    if ('warnings' in body.data || length < LEAST_BYTES || length > MOST_BYTES_EACH)
      return sendDocument(request, reply, document);
    const text = this.#kept.get(document.etag) ?? new StaticText(document);
    if (!this.#kept.delete(document.etag)) this.#bytes += length;
    this.#kept.set(document.etag, text);
    for (const [etag, { document }] of this.#kept) {
      if (this.#bytes <= MOST_BYTES) break;
      this.#kept.delete(etag);
      this.#bytes -= document.bytes.length;
    }
    return text.send(request, reply);
  }
}
