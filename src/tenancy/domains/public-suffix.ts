import { getPublicSuffix } from 'tldts';

/**
 * Returns whether a domain is a public suffix, of the ICANN or of the private section of the Public Suffix List
 * (`co.uk`, `github.io`): strangers register names below it, and often share its pages.
 * @param domain the domain in lower case, in its ASCII form, without a trailing dot
 */
export function isPublicSuffix(domain: string): boolean {
  return getPublicSuffix(domain, { allowPrivateDomains: true }) === domain;
}
