/** The TXT record that proves control of a domain. */
export interface DomainChallenge {
  readonly name: string;
  readonly type: 'TXT';
  readonly value: string;
}

const LABEL = '_consent-ledger';
const VALUE_PREFIX = 'consent-ledger-verification=';

/**
 * Makes the challenge of a domain. It has its own name below the domain (RFC 8552 §1), so that the
 * domain's other TXT records remain unchanged.
 */
export function domainChallenge(domain: string, token: string): DomainChallenge {
  return { name: `${LABEL}.${domain}`, type: 'TXT', value: `${VALUE_PREFIX}${token}` };
}

/**
 * Looks up the TXT records of a name, each joined from its strings.
 * @returns an empty list if the name does not exist
 */
export type LookUpTxt = (name: string) => Promise<readonly string[]>;

/** Whether the DNS contains the record of the challenge. @throws errors of the look-up */
export async function isChallengeMet(challenge: DomainChallenge, lookUpTxt: LookUpTxt): Promise<boolean> {
  const found = await lookUpTxt(challenge.name);
  return found.some((text) => text.trim() === challenge.value);
}
