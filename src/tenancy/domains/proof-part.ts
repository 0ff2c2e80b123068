import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import * as z from 'zod';
import { type BackgroundPart, repeat, runUnderLease, type ServiceLogger } from '../../platform/background/part.js';
import { settleAll } from '../../platform/background/signals.js';
import type { Queryable } from '../../platform/database/pool.js';
import { type RowSeals, readSealed, SealedTime, sealedRows } from '../../platform/keys/index.js';
import { changeSite } from '../sites/change-site.js';
import { afterLook, LOOK_DAYS, lapsesAt, type ProofWarning } from '../sites/proof-state.js';
import { domainChallenges } from './challenges.js';
import type { LookForProof, ProofLook } from './page-proof.js';

export interface ProofPartOptions {
  /** Connections in the role `consent_ledger_admin`, which seals the rows that it changes. */
  readonly db: pg.Pool;
  /** Holds the connection of the lease. */
  readonly leasePool: pg.Pool;
  readonly seals: RowSeals;
  readonly logger: ServiceLogger;
  readonly lookForProof: LookForProof;
  /** Tells the owners of the site, in the transaction of the look. */
  readonly warn: (db: Queryable, warned: WarnedSite) => Promise<void>;
  readonly now?: () => Date;
}

/** A site whose owners must know that its domain is no longer proved. */
export interface WarnedSite {
  readonly tenantId: string;
  readonly domain: string;
  readonly warning: ProofWarning;
  readonly failingSince: Date;
  readonly lapsesAt: Date;
}

/** Pause between two rounds, and before the next one while more sites are due, in milliseconds. */
const ROUND_MS = 3_600_000;
const MORE_MS = 60_000;
/** Sites that a round looks at, and looks at a time. Sites are due a week after their proof, at times of their own. */
const MAX_SITES = 50;
const CONCURRENT = 4;
/** Other sites that are asked whether the service's own network works, when none of a round was reached. */
const WITNESSES = 3;

/** A site whose proof is a page. */
const ProvedSite = z.object({
  id: z.string(),
  tenant_id: z.string(),
  domain: z.string(),
  verification_token: z.string(),
  proof: z.enum(['file', 'meta']),
  proof_looked_at: SealedTime.nullable(),
  proof_failing_since: SealedTime.nullable(),
});
type ProvedSite = z.infer<typeof ProvedSite>;
type Looked = readonly [site: ProvedSite, outcome: ProofLook['outcome']];

const BY_PAGE = "r.proof in ('file', 'meta') and r.verified_at is not null";

/**
 * Creates the part that looks again at the files and tags that prove domains: every week, and every day while one is
 * not found. It never stops the recording of consents. Several processes may run it; a lease lets one of them work.
 */
export function createProofPart(options: ProofPartOptions): BackgroundPart {
  const { leasePool, logger } = options;
  const counts = { looks: 0, missing: 0, not_counted: 0 };
  const work = (signal: AbortSignal): Promise<void> =>
    repeat('domain_proofs', logger, signal, async () => {
      const round = await lookThrough(options, signal);
      counts.looks += round.looks;
      counts.missing += round.missing;
      counts.not_counted += round.notCounted;
      return round.isComplete ? ROUND_MS : MORE_MS;
    });
  return {
    name: 'domain_proofs',
    status: () => ({ ...counts }),
    run: (signal) => runUnderLease({ db: leasePool, name: 'domain_proofs', logger, work }, signal),
  };
}

interface Round {
  readonly looks: number;
  readonly missing: number;
  /** Looks without an answer while the service reached no other site either. */
  readonly notCounted: number;
  /** False if more sites are due. */
  readonly isComplete: boolean;
}

/**
 * Looks at the sites that are due, the longest waiting first. A site that did not answer counts as failed only if
 * another one answered: otherwise the service's own network, or its resolvers, may be at fault.
 */
export async function lookThrough(options: ProofPartOptions, signal: AbortSignal): Promise<Round> {
  const { logger, now = () => new Date() } = options;
  const due = await provedSites(options, {
    where: `${BY_PAGE} and (r.proof_looked_at is null or r.proof_looked_at <=
              $1::timestamptz - case when r.proof_failing_since is null then interval '${LOOK_DAYS.found} days'
                                     else interval '${LOOK_DAYS.missing} days' end)
            order by r.proof_looked_at nulls first, r.id`,
    values: [now()],
  });
  const looked = await lookAt(options, due.slice(0, MAX_SITES), signal);
  const isUp = looked.some(answered) || (looked.length > 0 && (await reachesOthers(options, looked, signal)));
  const counted = looked.filter((one) => isUp || answered(one));
  if (counted.length < looked.length) {
    logger.warn(
      { part: 'domain_proofs', sites: looked.length },
      'no domain answered, so that the looks do not count; check the network and the resolvers of the service',
    );
  }
  for (const [site, outcome] of counted) await writeLook(options, site, outcome === 'found');
  return {
    looks: looked.length,
    missing: counted.filter(([, outcome]) => outcome !== 'found').length,
    notCounted: looked.length - counted.length,
    isComplete: due.length <= MAX_SITES || counted.length < looked.length,
  };
}

const answered = ([, outcome]: Looked): boolean => outcome !== 'unreached';

/** Returns whether a domain that was found lately answers, whatever it answers. */
async function reachesOthers(
  options: ProofPartOptions,
  looked: readonly Looked[],
  signal: AbortSignal,
): Promise<boolean> {
  const others = await provedSites(options, {
    where: `${BY_PAGE} and r.proof_failing_since is null and r.domain <> all ($1::text[])
            order by r.proof_looked_at desc limit ${WITNESSES}`,
    values: [looked.map(([{ domain }]) => domain)],
  });
  return (await lookAt(options, others, signal)).some(answered);
}

/** Reads sites, without those whose row was altered: they grant nothing. */
async function provedSites(
  { db, seals }: ProofPartOptions,
  query: { readonly where: string; readonly values: readonly unknown[] },
): Promise<readonly ProvedSite[]> {
  const rows = await sealedRows(db, { table: 'sites', ...query });
  const sites = await Promise.all(rows.map((row) => seals.open(row, ProvedSite)));
  return sites.filter((site) => site !== null);
}

async function lookAt(
  { lookForProof }: ProofPartOptions,
  sites: readonly ProvedSite[],
  signal: AbortSignal,
): Promise<readonly Looked[]> {
  const outcomes = await settleAll(sites, CONCURRENT, async (site): Promise<Looked> => {
    const challenges = domainChallenges(site.domain, site.verification_token);
    return [site, (await lookForProof(site.proof, site.domain, challenges, signal)).outcome];
  });
  return outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

/** Writes what a look has found, unless the site was verified anew or changed meanwhile. */
function writeLook(options: ProofPartOptions, site: ProvedSite, isFound: boolean): Promise<void> {
  const { db, seals, warn, now = () => new Date() } = options;
  return changeSite(db, site.id, async ({ db }) => {
    const query = { table: 'sites', where: `${BY_PAGE} and r.id = $1`, values: [site.id] } as const;
    const current = await readSealed(db, seals, query, ProvedSite);
    if (!isDeepStrictEqual(current, site)) return;
    const before = { lookedAt: site.proof_looked_at, failingSince: site.proof_failing_since };
    const { lookedAt, failingSince, warning } = afterLook(before, isFound, now());
    await db.query('update sites set proof_looked_at = $2, proof_failing_since = $3 where id = $1', [
      site.id,
      lookedAt,
      failingSince,
    ]);
    if (warning === null || failingSince === null) return;
    const { tenant_id: tenantId, domain } = site;
    await warn(db, { tenantId, domain, warning, failingSince, lapsesAt: lapsesAt(failingSince) });
  });
}
