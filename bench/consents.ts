import { randomBytes, randomUUID } from 'node:crypto';
import { requestSignature } from '../src/api/guards/signature.js';

/** Returns the request body of a cookie banner. @param hasPerson whether it names a new person */
export function cookieConsent(documentVersionId: string, hasPerson = true): Record<string, unknown> {
  return {
    consent_type: 'cookie',
    decision: 'partial',
    document_version_id: documentVersionId,
    language: 'en',
    categories: { necessary: true, analytics: true, marketing: false },
    idempotency_key: `k-${randomBytes(12).toString('hex')}`,
    ...(hasPerson && { visitor_id: randomUUID() }),
    source: 'client',
    metadata: { page: '/products/42', banner: 'bottom', version: 3 },
  };
}

/** Returns the bytes of a signed HTTP/1.1 request on a persistent connection. */
export function signedRequestBytes(port: number, path: string, apiKey: string, payload: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(payload));
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = randomUUID();
  const signature = requestSignature(apiKey, { method: 'POST', path, timestamp, nonce, body });
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    'user-agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    `content-length: ${body.length}`,
    `x-api-key: ${apiKey}`,
    `x-timestamp: ${timestamp}`,
    `x-nonce: ${nonce}`,
    `x-signature: ${signature}`,
  ].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]);
}

/** Returns the bytes of a request with a consent of a cookie banner for the service of peer.ts. */
export function peerRequestBytes(port: number): Buffer {
  const body = Buffer.from(
    JSON.stringify({
      type: 'cookie_banner',
      // Its ids are in base 58, which has no zero.
      subjectId: `sub_${randomBytes(12).toString('hex').replaceAll('0', 'z')}`,
      domain: 'shop.example',
      preferences: { necessary: true, measurement: true, marketing: false },
      givenAt: Date.now(),
      metadata: { page: '/products/42', banner: 'bottom', version: 3 },
    }),
  );
  const head = [
    'POST /subjects HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    'origin: https://shop.example',
    'user-agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    `content-length: ${body.length}`,
  ].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]);
}
