import type { PROOF_KINDS } from '../../../schemas/api/panel/sites.js';

export type ProofKind = (typeof PROOF_KINDS)[number];

/** A proof by a page of the domain, which proves that host alone. */
export type PageProofKind = Exclude<ProofKind, 'dns'>;

/** What proves control of a domain: each member suffices. All of them have the token of the site. */
export interface DomainChallenges {
  /** A TXT record, which proves the domain with its subdomains. */
  readonly dns: { readonly name: string; readonly type: 'TXT'; readonly value: string };
  readonly file: { readonly url: string; readonly content: string };
  readonly meta: { readonly url: string; readonly name: string; readonly content: string; readonly tag: string };
}

const LABEL = '_consent-ledger';
const META_NAME = 'consent-ledger-verification';
export const FILE_PATH = '/.well-known/consent-ledger.txt';

/**
 * Creates the challenges of a domain. The record has its own name below the domain (RFC 8552 §1), so the domain's other
 * TXT records need not change; the file is at a well-known address (RFC 8615), where visitors can place nothing.
 */
export function domainChallenges(domain: string, token: string): DomainChallenges {
  const value = `${META_NAME}=${token}`;
  return {
    dns: { name: `${LABEL}.${domain}`, type: 'TXT', value },
    file: { url: `https://${domain}${FILE_PATH}`, content: value },
    meta: {
      url: `https://${domain}/`,
      name: META_NAME,
      content: token,
      tag: `<meta name="${META_NAME}" content="${token}">`,
    },
  };
}
