/** A server gave no usable response. The message is readable text. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** Requests a response without compression. */
export const NO_CODING = { 'accept-encoding': 'identity' } as const;

/**
 * Refuses a compressed response, which was not requested. If one is broken, Node's `fetch` ignores its signal and waits
 * forever, so a hostile service could keep an auditor from ever reporting.
 * @throws Unreachable
 */
export function refuseCoding({ headers, body }: Response, url: string): void {
  const coding = headers.get('content-encoding')?.toLowerCase() ?? 'identity';
  if (coding === 'identity') return;
  // Not awaited, for the same reason.
  void body?.cancel().catch(() => undefined);
  throw new Unreachable(`${url} answered in a content coding that was not asked for`);
}

export interface BoundedRequest {
  readonly url: URL;
  /** Time limit for the whole exchange, in milliseconds. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** JSON to send with POST. If omitted, the request is a GET. */
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
    json === undefined
      ? { headers: NO_CODING }
      : { method: 'POST', body: json, headers: { ...NO_CODING, 'content-type': 'application/json' } };
  try {
    const response = await fetch(url, { redirect: 'manual', signal, ...post });
    refuseCoding(response, url.href);
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
