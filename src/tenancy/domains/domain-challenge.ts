/** The TXT record by which a domain says whose it is. */
export interface DomainChallenge {
  readonly name: string;
  readonly type: 'TXT';
  readonly value: string;
}

const LABEL = '_consent-ledger';
const VALUE_PREFIX = 'consent-ledger-verification=';

/** A name of its own below the domain (RFC 8552 §1): the domain's other TXT records stay as they are. */
export function domainChallenge(domain: string, token: string): DomainChallenge {
  return { name: `${LABEL}.${domain}`, type: 'TXT', value: `${VALUE_PREFIX}${token}` };
}

/** Asks the DNS for the TXT records of a name, each joined from its strings. @returns none where there is no such name */
export type LookUpTxt = (name: string) => Promise<readonly string[]>;

/** Whether the domain's DNS says what the challenge asks for. @throws what the look-up throws */
export async function isChallengeMet(challenge: DomainChallenge, lookUpTxt: LookUpTxt): Promise<boolean> {
  const found = await lookUpTxt(challenge.name);
  return found.some((text) => text.trim() === challenge.value);
}
