/** WebCrypto of the suite's own process, before anything replaces it. */
const { subtle } = globalThis.crypto;
const utf8 = new TextEncoder();

/** The signature that the service expects of a POST (specification, "Request signature"). */
export async function signatureOf({ path, timestamp, nonce, body, key }: SignedParts): Promise<string> {
  const digest = hex(await subtle.digest('SHA-256', utf8.encode(body)));
  const text = ['POST', path, timestamp, nonce, digest].join('\n');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const secret = await subtle.importKey('raw', utf8.encode(key), algorithm, false, ['sign']);
  return hex(await subtle.sign('HMAC', secret, utf8.encode(text)));
}

interface SignedParts {
  readonly path: string;
  /** Unix time in seconds. */
  readonly timestamp: string;
  readonly nonce: string;
  readonly body: string;
  readonly key: string;
}

function hex(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
