import { PLACES, urlsUnder } from './places.js';

const MONTHS_AHEAD = 3;

/**
 * security.txt (RFC 9116 §4, unsigned). It is made anew for each request from the configuration in
 * force, so `Expires` stays two to three months ahead; it changes once a month, so that caches can
 * keep it.
 * @param contacts URIs, the preferred one first; at least one (§2.5.3)
 * @param publicUrl of the configuration; named as `Canonical` where it is https, as it must be
 *   (§2.5.2)
 */
export function securityText(contacts: readonly string[], publicUrl: string | undefined, now: Date): string {
  const fields = contacts.map((uri) => `Contact: ${uri}`);
  fields.push(`Expires: ${new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + MONTHS_AHEAD)).toISOString()}`);
  if (publicUrl?.startsWith('https://')) {
    fields.push(`Canonical: ${urlsUnder(publicUrl)(PLACES.securityText.path)}`);
  }
  return `${fields.join('\n')}\n`;
}
