import { createHash, createHmac, randomUUID } from 'node:crypto';

/** Values to sign in place of those that are sent. */
export interface SigningOptions {
  readonly timestamp?: string;
  readonly nonce?: string;
  readonly signedMethod?: string;
  readonly signedPath?: string;
  readonly signedBody?: Uint8Array | string;
  readonly signingKey?: string;
}

/** Seconds since 1970, as X-Timestamp takes them. */
export function unixSeconds(offset = 0): string {
  return String(Math.floor(Date.now() / 1000) + offset);
}

/** The three headers of a signed POST (specification, Request signature, rules 1 to 3). */
export function signatureHeaders(
  apiKey: string,
  path: string,
  body: Uint8Array | string,
  options: SigningOptions = {},
): Record<string, string> {
  const timestamp = options.timestamp ?? unixSeconds();
  const nonce = options.nonce ?? randomUUID();
  const bodyHash = createHash('sha256')
    .update(options.signedBody ?? body)
    .digest('hex');
  const signedPath = options.signedPath ?? path.split('?', 1)[0] ?? '';
  const canonical = [options.signedMethod ?? 'POST', signedPath, timestamp, nonce, bodyHash].join('\n');
  return {
    'x-timestamp': timestamp,
    'x-nonce': nonce,
    'x-signature': createHmac('sha256', options.signingKey ?? apiKey)
      .update(canonical)
      .digest('hex'),
  };
}
