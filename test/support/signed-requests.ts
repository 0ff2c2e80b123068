import { createHash, createHmac, randomUUID } from 'node:crypto';

/**
 * Headers of a signed POST (src/api/guards/signature.ts).
 * @param at the time that the caller states, in Unix milliseconds
 */
export function signedHeaders(key: string, path: string, body: string, at = Date.now()): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const nonce = randomUUID();
  const bodyHash = createHash('sha256').update(body).digest('hex');
  const canonical = ['POST', path, timestamp, nonce, bodyHash].join('\n');
  return {
    'content-type': 'application/json',
    'x-api-key': key,
    'x-timestamp': timestamp,
    'x-nonce': nonce,
    'x-signature': createHmac('sha256', key).update(canonical).digest('hex'),
  };
}

/** Sends a signed POST. @param at as in `signedHeaders` */
export function postSigned(
  baseUrl: string,
  key: string,
  path: string,
  content: unknown,
  at?: number,
): Promise<Response> {
  const body = JSON.stringify(content);
  return fetch(baseUrl + path, { method: 'POST', headers: signedHeaders(key, path, body, at), body });
}
