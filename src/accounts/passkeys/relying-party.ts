import { isIP } from 'node:net';

/** This installation towards authenticators (WebAuthn §4, Relying Party). */
export interface RelyingParty {
  /** Host name that passkeys are made for. */
  readonly id: string;
  /** Origin of the pages that may use them. */
  readonly origin: string;
}

/**
 * Returns the relying party of a public URL. It is configured, because the `Host` of a request is not to be trusted.
 * @returns null if browsers offer no passkeys there: without TLS, except on localhost, and at an address without a name
 */
export function relyingPartyOf(publicUrl: string | undefined): RelyingParty | null {
  if (publicUrl === undefined) return null;
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isAddress = hostname.startsWith('[') || isIP(hostname) !== 0;
  const isSecure = protocol === 'https:' || hostname === 'localhost';
  return isSecure && !isAddress ? { id: hostname, origin } : null;
}
