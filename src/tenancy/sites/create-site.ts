import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { AllowedIps, AllowedOrigins, RetentionRules, SiteDomain, SiteName } from '../../../schemas/api/panel/sites.js';
import { Uuid } from '../../../schemas/evidence/primitives.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';
import { networkProblem } from '../../platform/net/addresses.js';
import { setRetention } from './change-retention-period.js';

export const NewSite = z.object({
  tenantId: Uuid,
  name: SiteName,
  domain: SiteDomain,
  isVerified: z.boolean(),
  allowedOrigins: AllowedOrigins,
  /** Addresses and CIDR ranges; the host bits of a range must be zero. */
  allowedIps: AllowedIps,
  /** Without them, no record is erased by age. */
  retention: RetentionRules.optional(),
});
export type NewSite = z.input<typeof NewSite>;

/**
 * Creates a site of a tenant.
 * @throws ChangeRefused `invalid`, `not_found` (the tenant)
 */
export async function createSite(db: Queryable, site: NewSite): Promise<{ readonly id: string }> {
  const { tenantId, name, domain, isVerified, allowedOrigins, allowedIps, retention } = accepted(NewSite, site);
  refuseBadNetworks(allowedIps);
  const id = randomUUID();
  await withTransaction(db, async (db) => {
    const tenant = await db.query('select from tenants where id = $1', [tenantId]);
    if (tenant.rowCount === 0) throw new ChangeRefused('not_found', `There is no tenant ${tenantId}.`);
    await db.query(
      `insert into sites (id, tenant_id, name, domain, verified_at, allowed_origins, allowed_ips)
     values ($1, $2, $3, $4, case when $5 then now() end, $6, $7::cidr[])`,
      [id, tenantId, name, domain, isVerified, allowedOrigins, allowedIps],
    );
    if (retention !== undefined) await setRetention(db, id, retention);
  });
  return { id };
}

/** Checks network ranges. @throws ChangeRefused `invalid` */
export function refuseBadNetworks(networks: readonly string[]): void {
  const problems = networks.flatMap((network, index) => {
    const message = networkProblem(network);
    return message === null ? [] : [{ field: `allowed_ips.${index}`, message }];
  });
  if (problems.length === 0) return;
  throw new ChangeRefused(
    'invalid',
    problems
      .slice(0, 10)
      .map(({ message }) => message)
      .join(' '),
    problems.slice(0, 50),
  );
}
