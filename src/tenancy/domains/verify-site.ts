import { NODATA, NOTFOUND } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused, invalidChange } from '../../platform/errors.js';
import { republishForDomain } from '../configuration/publish-site-config.js';
import { changeSite } from '../sites/change-site.js';
import { coversSubdomains, Proof, type ProofLooks } from '../sites/proof-state.js';
import { type DomainChallenges, domainChallenges, type ProofKind } from './challenges.js';
import { isPublicSuffix } from './public-suffix.js';

/**
 * Looks up the TXT records of a name, each joined from its strings.
 * @returns an empty list if the name does not exist
 */
export type LookUpTxt = (name: string) => Promise<readonly string[]>;

/** Whether the DNS contains the record of the challenge. @throws errors of the look-up */
export async function isChallengeMet(challenge: DomainChallenges['dns'], lookUpTxt: LookUpTxt): Promise<boolean> {
  const found = await lookUpTxt(challenge.name);
  return found.some((text) => text.trim() === challenge.value);
}

const ChallengeRow = z.object({
  domain: z.string(),
  verification_token: z.string(),
  verified_at: z.date().nullable(),
  proof: Proof.nullable(),
  proof_looked_at: z.date().nullable(),
  proof_failing_since: z.date().nullable(),
});

export interface SiteChallenge extends ProofLooks {
  readonly domain: string;
  readonly verifiedAt: Date | null;
  /** Null if the domain is not verified, or was before kinds were recorded. */
  readonly proof: Proof | null;
  readonly challenges: DomainChallenges;
}

/**
 * Reads the challenges that verify a site's domain, and the proof in force.
 * @throws ChangeRefused `not_found`
 */
export async function challengeOfSite(db: Queryable, siteId: string): Promise<SiteChallenge> {
  const { rows } = await db.query(
    `select domain, verification_token, verified_at, proof, proof_looked_at, proof_failing_since
       from sites where id = $1`,
    [siteId],
  );
  const [row] = z.array(ChallengeRow).parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no site ${siteId}.`);
  return {
    domain: row.domain,
    verifiedAt: row.verified_at,
    proof: row.verified_at === null ? null : row.proof,
    lookedAt: row.proof_looked_at,
    failingSince: row.proof_failing_since,
    challenges: domainChallenges(row.domain, row.verification_token),
  };
}

/**
 * Refuses to prove a public suffix by one of its pages: strangers share them.
 * @throws ChangeRefused `invalid`
 */
export function refusePublicSuffix(domain: string): void {
  if (!isPublicSuffix(domain)) return;
  const message = `cannot be file or meta: ${domain} is a public suffix, below which strangers have sites. Use the DNS record`;
  throw invalidChange({ field: 'by', message });
}

/** A challenge that was met, and what was looked for. */
export interface MetChallenge {
  readonly kind: ProofKind;
  /** The challenges at the time of the look. */
  readonly challenges: DomainChallenges;
}

/**
 * Marks a site as verified, and ends the failures of its proof. A domain that the DNS or an operator proved keeps that
 * proof when a page is found too, because it proves more. If the configuration in force names another domain, it is
 * published again with the new one, because evidence must state where a consent was requested.
 * @param met the challenge that was met, or null if an operator confirms the domain
 * @returns the domain, the proof in force, and the number of the republished configuration or null
 * @throws ChangeRefused `not_found`, `wrong_state` (the domain was changed meanwhile)
 */
export function verifySite(
  db: Queryable,
  siteId: string,
  met: MetChallenge | null,
): Promise<{ readonly domain: string; readonly proof: Proof | null; readonly republished: number | null }> {
  return changeSite(db, siteId, async (site) => {
    const { challenges, verifiedAt, proof: before } = await challengeOfSite(site.db, siteId);
    if (met !== null && met.challenges.dns.value !== challenges.dns.value) {
      throw new ChangeRefused('wrong_state', 'The domain was changed meanwhile. Verify the new domain.');
    }
    const found: Proof = met?.kind ?? 'operator';
    const keeps = verifiedAt !== null && coversSubdomains(before) && !coversSubdomains(found);
    const proof = keeps ? before : found;
    // The time of a proof of another kind is its own.
    await site.db.query(
      `update sites set verified_at = case when verified_at is null or proof is distinct from $3 then $2 else verified_at end,
              proof = $3, proof_looked_at = case when $4 then null else $2 end, proof_failing_since = null
        where id = $1`,
      [siteId, site.now, proof, coversSubdomains(proof)],
    );
    return { domain: site.domain, proof, republished: await republishForDomain(site) };
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
