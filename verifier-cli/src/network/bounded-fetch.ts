/** A server gave no usable answer. The message is for people. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

export interface BoundedRequest {
  readonly url: URL;
  /** Milliseconds for the whole exchange. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** JSON to send with POST; without it the request is a GET. */
  readonly json?: string;
}

/**
 * Performs one HTTP exchange. Redirects are not followed.
 * @returns the body of a 200 answer
 * @throws Unreachable
 */
export async function boundedFetch({ url, timeoutMs, maxBytes, json }: BoundedRequest): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(timeoutMs);
  const post =
    json === undefined ? {} : { method: 'POST', body: json, headers: { 'content-type': 'application/json' } };
  try {
    const response = await fetch(url, { redirect: 'manual', signal, ...post });
    const isGood = response.status === 200 || (json !== undefined && response.ok);
    if (!isGood) {
      await response.body?.cancel();
      throw new Unreachable(`${url.href} answered HTTP ${response.status}`);
    }
    return await readBounded(response, maxBytes, url);
  } catch (error) {
    if (error instanceof Unreachable) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new Unreachable(`${url.href} cannot be read: ${cause instanceof Error ? cause.message : 'unknown error'}`);
  }
}

async function readBounded(response: Response, maxBytes: number, url: URL): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('a response body is made of bytes');
    size += chunk.length;
    if (size > maxBytes) throw new Unreachable(`${url.href} answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
