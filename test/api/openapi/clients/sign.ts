import { createHash, createHmac, randomUUID } from 'node:crypto';

/** A `fetch` that reads relative URLs as those of the service, and signs each POST of the Tool API. */
export function signingFetch(base: string, apiKey: string): typeof fetch {
  return async (input, init) => {
    const request = new Request(input instanceof Request ? input : new URL(String(input), base), init);
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith('/tool/')) return fetch(request);
    request.headers.set('X-API-Key', apiKey);
    if (request.method !== 'POST') return fetch(request);
    const body = Buffer.from(await request.clone().arrayBuffer());
    const timestamp = String(Math.floor(Date.now() / 1000));
    const nonce = randomUUID();
    const hash = createHash('sha256').update(body).digest('hex');
    const text = ['POST', pathname, timestamp, nonce, hash].join('\n');
    request.headers.set('X-Timestamp', timestamp);
    request.headers.set('X-Nonce', nonce);
    request.headers.set('X-Signature', createHmac('sha256', apiKey).update(text).digest('hex'));
    return fetch(request);
  };
}

/** What the test gives a client. */
export function given() {
  const read = (name: string): string => {
    const value = process.env[name];
    if (value === undefined) throw new Error(`${name} is not set`);
    return value;
  };
  return {
    base: read('BASE'),
    apiKey: read('KEY'),
    version: read('COOKIE_POLICY'),
    approvalVersion: read('EXPLICIT_CONSENT'),
    login: { email: read('EMAIL'), password: read('PASSWORD') },
  };
}
