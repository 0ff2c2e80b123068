import type { NetworkAnswer, NetworkRequest } from '../../core/ports.js';

const TIMEOUT_MS = 30_000;
/**
 * Maximum number of bytes of a request that may outlive its page. Browsers permit 64 KiB at a time, including requests
 * of other scripts, and fail the rest (Fetch standard, keepalive).
 */
const MOST_KEPT_ALIVE = 16_384;
/** The service uses no cookies. A cached response is only used if the service confirms it. */
const ALWAYS = { credentials: 'omit', cache: 'no-cache' } as const;

/** Sends a request by `fetch`. Leaving the page does not end one with a small body. */
export async function fetchAnswer({ url, method, headers, body }: NetworkRequest): Promise<NetworkAnswer> {
  const response = await fetch(url, {
    method,
    headers,
    ...(body !== undefined && { body, keepalive: new TextEncoder().encode(body).length <= MOST_KEPT_ALIVE }),
    ...ALWAYS,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  // Reading fails if the page is left while the response arrives. That counts as no response, and not as a refusal.
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('Retry-After') };
}
