import { withAnySignal } from '../platform/background/signals.js';

/** What is needed of the platform's `fetch`; tests put faults behind it. */
export type Fetch = typeof globalThis.fetch;

/** One request to somebody else's server, with the bounds that keep it from hurting. */
export interface BoundedRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly body?: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** For the whole exchange, redirects and body included. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** The body of a 200 answer, and the headers that say what it is and how long it may be kept. */
export interface BoundedResponse {
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly cacheControl: string;
}

/** The exchange did not end in an answer that can be used. The message is fit for a log. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
}

const MAX_REDIRECTS = 3;

/**
 * Makes one HTTP exchange. A GET follows up to three redirects, http and https only; a POST follows none.
 * @throws HttpFailure
 */
export async function exchange(fetch: Fetch, request: BoundedRequest): Promise<BoundedResponse> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const sources = request.signal === undefined ? [timeout] : [timeout, request.signal];
  return withAnySignal(sources, (signal) => followed(fetch, request, signal));
}

async function followed(fetch: Fetch, request: BoundedRequest, signal: AbortSignal): Promise<BoundedResponse> {
  let url = httpUrl(request.url);
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetchOnce(fetch, url, request, signal);
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await response.body?.cancel();
      if (request.method === 'POST') throw new HttpFailure('redirected a POST, which is not followed');
      if (redirects === MAX_REDIRECTS) throw new HttpFailure('redirected too often');
      url = httpUrl(location, url);
      continue;
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new HttpFailure(`answered HTTP ${response.status}`);
    }
    return {
      body: await readBounded(response, request.maxBytes),
      contentType: (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '',
      cacheControl: response.headers.get('cache-control') ?? '',
    };
  }
}

async function fetchOnce(fetch: Fetch, url: URL, request: BoundedRequest, signal: AbortSignal): Promise<Response> {
  const { method, body, headers } = request;
  try {
    return await fetch(url, { method, headers, signal, redirect: 'manual', ...(body === undefined ? {} : { body }) });
  } catch (error) {
    throw new HttpFailure(`cannot be reached: ${reasonOf(error)}`, { cause: error });
  }
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
