import { setImmediate as nextTurn } from 'node:timers/promises';
import { abortOf, withAnySignal } from '../platform/background/signals.js';

/** The platform's `fetch`; tests replace it to inject faults. */
export type Fetch = typeof globalThis.fetch;

/** One request to a third party's server, with limits that protect this process. */
export interface BoundedRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly body?: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** Time limit for the whole exchange, including redirects and the body, in milliseconds. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Statuses other than 200 whose response the caller reads. */
  readonly alsoAccept?: readonly number[];
  readonly signal?: AbortSignal;
}

/** The body of an accepted response, with its content type and caching rules. */
export interface BoundedResponse {
  readonly status: number;
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly cacheControl: string;
}

/** The exchange gave no usable response. The message is safe to log. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
}

const MAX_REDIRECTS = 3;
/** No compression: responses are small, and a broken content coding makes Node's `fetch` wait forever. */
const IDENTITY = 'identity';

/**
 * Performs one HTTP exchange. A GET follows up to three redirects, http and https only; a POST follows none. It settles
 * within `timeoutMs`, regardless of what the server sends.
 * @throws HttpFailure
 */
export async function exchange(fetch: Fetch, request: BoundedRequest): Promise<BoundedResponse> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const sources = request.signal === undefined ? [timeout] : [timeout, request.signal];
  return withAnySignal(sources, async (signal) => {
    const aborted = abortOf(signal);
    const tooLate = aborted.promise.then(async (): Promise<never> => {
      // Usually an aborted `fetch` rejects first, with the reason. Node's does not if a content coding is broken.
      await nextTurn();
      throw new HttpFailure('gave no complete answer in time');
    });
    try {
      return await Promise.race([followed(fetch, request, signal), tooLate]);
    } finally {
      aborted.release();
    }
  });
}

async function followed(fetch: Fetch, request: BoundedRequest, signal: AbortSignal): Promise<BoundedResponse> {
  let url = httpUrl(request.url);
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetchOnce(fetch, url, request, signal);
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await discard(response);
      if (request.method === 'POST') throw new HttpFailure('redirected a POST, which is not followed');
      if (redirects === MAX_REDIRECTS) throw new HttpFailure('redirected too often');
      url = httpUrl(location, url);
      continue;
    }
    if (response.status !== 200 && request.alsoAccept?.includes(response.status) !== true) {
      await discard(response);
      throw new HttpFailure(`answered HTTP ${response.status}`);
    }
    const coding = response.headers.get('content-encoding') ?? IDENTITY;
    if (coding.toLowerCase() !== IDENTITY) {
      await discard(response);
      throw new HttpFailure('answered in a content coding that was not asked for');
    }
    return {
      status: response.status,
      body: await readBounded(response, request.maxBytes),
      contentType: (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '',
      cacheControl: response.headers.get('cache-control') ?? '',
    };
  }
}

async function fetchOnce(fetch: Fetch, url: URL, request: BoundedRequest, signal: AbortSignal): Promise<Response> {
  const { method, body } = request;
  const headers = { ...request.headers, 'accept-encoding': IDENTITY };
  try {
    return await fetch(url, { method, headers, signal, redirect: 'manual', ...(body === undefined ? {} : { body }) });
  } catch (error) {
    throw new HttpFailure(`cannot be reached: ${reasonOf(error)}`, { cause: error });
  }
}

/** Ends the connection of a response that is not read. It does not matter if its body has already failed. */
async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => undefined);
}

async function readBounded(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('a response body is made of bytes');
      size += chunk.length;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new HttpFailure(`broke off: ${reasonOf(error)}`, { cause: error });
  }
  if (size > maxBytes) throw new HttpFailure(`answered with more than ${maxBytes} bytes`);
  return new Uint8Array(Buffer.concat(chunks));
}

function httpUrl(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new HttpFailure('is not an http or https URL');
  }
  return url;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
