import type { NetworkAnswer, NetworkRequest } from '../../core/ports.js';

const TIMEOUT_MS = 30_000;
/**
 * Bytes of a request that may outlive its page. Browsers permit 64 KiB of them at a time, those of
 * other scripts included, and fail the rest (Fetch standard, keepalive).
 */
const MOST_KEPT_ALIVE = 16_384;
/** The service uses no cookies. What was read before is used only if the service confirms it. */
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
  // Reading fails where the page is left while the answer arrives: that is no answer, and not a refusal.
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('Retry-After') };
}
