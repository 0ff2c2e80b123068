import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FOR_MINUTES, holds, type PublicDocument, publicDocument } from './send-document.js';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
/** Smaller texts, in bytes, fit in one packet anyway. */
export const LEAST_BYTES = 1024;
/** The highest level takes seconds for a page, and saves little. */
const BROTLI_QUALITY = 9;

type Headers = Readonly<Record<string, string>>;
type Coding = 'br' | 'gzip';
/** The codings in order of preference. */
const CODINGS: readonly Coding[] = ['br', 'gzip'];

const COMPRESS: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => compressBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (bytes) => compressGzip(bytes, { level: constants.Z_BEST_COMPRESSION }),
};

/**
 * A public text in memory. It is compressed once per coding, at the first request that accepts the coding, outside the
 * main thread.
 */
export class StaticText {
  readonly #compressed = new Map<Coding, Promise<Buffer>>();

  constructor(readonly document: PublicDocument) {}

  /**
   * Responds to GET and HEAD in the best coding that the client accepts (RFC 9110 §12.5.3). Each
   * coding has an entity tag of its own (RFC 9110 §8.8.3.3).
   * @param more headers of this response alone
   */
  async send(request: FastifyRequest, reply: FastifyReply, more: Headers = {}): Promise<FastifyReply> {
    const { bytes, contentType, etag, headers } = this.document;
    const coding = bytes.length < LEAST_BYTES ? undefined : acceptedCoding(request.headers['accept-encoding']);
    const ownTag = coding === undefined ? etag : `${etag.slice(0, -1)}-${coding}"`;
    reply.headers({ vary: 'Accept-Encoding', ...headers, ...more, etag: ownTag });
    if (holds(request.headers['if-none-match'], ownTag)) return reply.code(304).send();
    reply.header('content-type', contentType);
    if (coding === undefined) return reply.send(bytes);
    return reply.header('content-encoding', coding).send(await this.#in(coding));
  }

  #in(coding: Coding): Promise<Buffer> {
    let compressed = this.#compressed.get(coding);
    if (compressed === undefined) {
      compressed = COMPRESS[coding](this.document.bytes);
      this.#compressed.set(coding, compressed);
      // The next request tries again.
      compressed.catch(() => this.#compressed.delete(coding));
    }
    return compressed;
  }
}

/**
 * Serves a text that is read at the first request and kept in memory. After a failure, the next request tries again.
 * @param path path of the route @param headersFor returns headers of one response alone
 */
export function serveLazily(
  scope: FastifyInstance,
  path: string,
  read: () => Promise<StaticText>,
  headersFor?: (query: unknown, document: PublicDocument) => Headers,
): void {
  let kept: Promise<StaticText> | undefined;
  scope.get(path, async (request, reply) => {
    kept ??= read();
    const text = await kept.catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    return text.send(request, reply, headersFor?.(request.query, text.document));
  });
}

/** Serves a file that was built with the service, for every origin. @param path path of the route */
export function serveBuilt(scope: FastifyInstance, path: string, contentType: string, file: string): void {
  serveLazily(scope, path, async () => {
    const body = await readFile(file, 'utf8');
    return new StaticText(publicDocument({ contentType, body, cacheControl: FOR_MINUTES }));
  });
}

/**
 * Serves a text that seldom changes.
 * @param documentOf makes the document of a text
 * @returns a function that keeps the newest text in memory
 */
export function latestText(documentOf: (text: string) => PublicDocument): (text: string) => StaticText {
  let latest: { readonly text: string; readonly prepared: StaticText } | null = null;
  return (text) => {
    if (latest?.text !== text) latest = { text, prepared: new StaticText(documentOf(text)) };
    return latest.prepared;
  };
}

/** Accept-Encoding with weights; `*` stands for the codings that are not named. */
function acceptedCoding(acceptEncoding = ''): Coding | undefined {
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0);
  }
  return CODINGS.find((coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0);
}
