/**
 * The form of an address at which visitors withdraw. It has no user, port, upper case or trailing dot of the host, so
 * that its host is what stands before the first “/”.
 */
export const WITHDRAWAL_URL = /^https:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?:\/[!-~]*)?$/;

/** Whether an address of this form is on a domain. @param withSubdomains whether its subdomains count too */
export function isOnDomain(url: string, domain: string, withSubdomains = true): boolean {
  const host = url.split('/')[2] ?? '';
  return host === domain || (withSubdomains && host.endsWith(`.${domain}`));
}
