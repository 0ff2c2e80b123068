import type { NetworkAnswer, NetworkRequest } from '../../core/ports.js';

const TIMEOUT_MS = 30_000;
/**
 * UTF-16 units of the longest body that may outlive its page, at most 15 kB. Browsers permit 64 KiB at a time, including
 * requests of other scripts, and fail the rest (Fetch standard, keepalive).
 */
const MOST_KEPT_ALIVE = 5_000;

/** Sends a request by `fetch`. Leaving the page does not end one with a small body. */
export async function fetchAnswer({ url, method, headers, body }: NetworkRequest): Promise<NetworkAnswer> {
  // With the key in the address there is no preflight, and the page can load the answer ahead.
  const isConfiguration = /config\?/.test(url);
  const options = {
    method,
    headers: isConfiguration ? {} : headers,
    // A cached response is only used if the service confirms it.
    cache: 'no-cache' as const,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    // The service uses no cookies. The answer that a page loads ahead is found under the usual mode alone.
    ...(body !== undefined && { body, credentials: 'omit' as const, keepalive: body.length <= MOST_KEPT_ALIVE }),
  };
  const response = await fetch(isConfiguration ? `${url}key=${headers['X-API-Key']}` : url, options);
  // Reading fails if the page is left while the response arrives. That counts as no response, and not as a refusal.
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('Retry-After') };
}
