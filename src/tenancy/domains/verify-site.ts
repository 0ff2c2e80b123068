import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { republishForDomain } from '../configuration/publish-site-config.js';
import { changeSite } from '../sites/change-site.js';
import { type DomainChallenge, domainChallenge } from './domain-challenge.js';

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
 * @param met the challenge that the DNS contains; null: an operator confirms the domain
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
