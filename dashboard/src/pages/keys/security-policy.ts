/** How a page permits the script of the SDK: by the address of the service, or by a nonce of its own. */
export type PolicyKind = 'origin' | 'nonce';

/** Stands for the random value that the site's server makes for each answer. */
export const NONCE_IN_TEXT = 'RANDOM';

/**
 * Returns a content security policy for a page that shows the banner, with content of its own origin beside it. It has
 * no style and no image for the banner, which needs neither, and nothing for what waits for consent: that is loaded
 * from addresses that the site alone knows. No digest of the script stands in it, because each upgrade of the service
 * changes the script.
 * @param service origin of the service
 */
export function securityPolicy(service: string, kind: PolicyKind): string {
  const scripts = kind === 'origin' ? `'self' ${service}` : `'nonce-${NONCE_IN_TEXT}'`;
  return [
    "default-src 'self'",
    `script-src ${scripts}`,
    `connect-src 'self' ${service}`,
    "object-src 'none'",
    "base-uri 'none'",
  ].join('; ');
}
