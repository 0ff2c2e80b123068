import { NODATA, NOTFOUND } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { republishForDomain } from '../configuration/publish-site-config.js';
import { changeSite } from '../sites/change-site.js';

/** The TXT record that proves control of a domain. */
interface DomainChallenge {
  readonly name: string;
  readonly type: 'TXT';
  readonly value: string;
}

const LABEL = '_consent-ledger';
const VALUE_PREFIX = 'consent-ledger-verification=';

/**
 * Creates the challenge of a domain. It has its own name below the domain (RFC 8552 §1), so the domain's other TXT
 * records need not change.
 */
function domainChallenge(domain: string, token: string): DomainChallenge {
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

const ChallengeRow = z.object({ domain: z.string(), verification_token: z.string(), verified_at: z.date().nullable() });

export interface SiteChallenge {
  readonly domain: string;
  readonly verifiedAt: Date | null;
  readonly challenge: DomainChallenge;
}

/**
 * Reads the challenge that verifies a site's domain.
 * @throws ChangeRefused `not_found`
 */
export async function challengeOfSite(db: Queryable, siteId: string): Promise<SiteChallenge> {
  const { rows } = await db.query('select domain, verification_token, verified_at from sites where id = $1', [siteId]);
  const [row] = z.array(ChallengeRow).parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no site ${siteId}.`);
  return {
    domain: row.domain,
    verifiedAt: row.verified_at,
    challenge: domainChallenge(row.domain, row.verification_token),
  };
}

/**
 * Marks a site as verified. If the configuration in force names another domain, it is published
 * again with the new one, because evidence must state where a consent was requested.
 * @param met the challenge that the DNS contains, or null if an operator confirms the domain
 * @returns the domain, and the number of the republished configuration or null
 * @throws ChangeRefused `not_found`, `wrong_state` (the domain was changed meanwhile)
 */
export function verifySite(
  db: Queryable,
  siteId: string,
  met: DomainChallenge | null,
): Promise<{ readonly domain: string; readonly republished: number | null }> {
  return changeSite(db, siteId, async (site) => {
    const { challenge } = await challengeOfSite(site.db, siteId);
    if (met !== null && met.value !== challenge.value) {
      throw new ChangeRefused('wrong_state', 'The domain was changed meanwhile. Verify the new domain.');
    }
    await site.db.query('update sites set verified_at = coalesce(verified_at, $2) where id = $1', [siteId, site.now]);
    return { domain: site.domain, republished: await republishForDomain(site) };
  });
}

const TIMEOUT_MS = 3000;
const TRIES = 2;
const ABSENT: readonly unknown[] = [NOTFOUND, NODATA];

/** The DNS resolvers are unavailable. */
export class DnsUnavailable extends Error {
  override readonly name = 'DnsUnavailable';
}

/**
 * Creates a look-up of TXT records with short timeouts. It throws DnsUnavailable.
 * @param servers addresses of resolvers, with a port unless it is 53; if it is empty, the system's resolvers are used
 */
export function createTxtLookUp(servers: readonly string[]): LookUpTxt {
  return async (name) => {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    try {
      return (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
    } catch (error) {
      if (error instanceof Error && 'code' in error && ABSENT.includes(error.code)) return [];
      throw new DnsUnavailable(`The DNS servers do not answer for ${name}. Try again later.`, { cause: error });
    }
  };
}
