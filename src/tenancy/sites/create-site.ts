import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AllowedIps, AllowedOrigins, RetentionDays, SiteDomain, SiteName } from '../../../schemas/api/panel/sites.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors/change-refused.js';
import { networkProblem } from '../../platform/net/networks.js';

export const NewSite = z.object({
  tenantId: z.uuid(),
  name: SiteName,
  domain: SiteDomain,
  isVerified: z.boolean(),
  allowedOrigins: AllowedOrigins,
  /** Addresses and CIDR ranges; the host bits of a range must be zero. */
  allowedIps: AllowedIps,
  /** Days after which a record is erased; null: never. */
  retentionDays: RetentionDays.nullable().default(null),
});
export type NewSite = z.input<typeof NewSite>;

/**
 * Creates a site of a tenant.
 * @throws ChangeRefused `invalid`, `not_found` (the tenant)
 */
export async function createSite(db: Queryable, site: NewSite): Promise<{ readonly id: string }> {
  const checked = NewSite.safeParse(site);
  if (!checked.success) throw new ChangeRefused('invalid', z.prettifyError(checked.error));
  const { tenantId, name, domain, isVerified, allowedOrigins, allowedIps, retentionDays } = checked.data;
  refuseBadNetworks(allowedIps);
  const id = randomUUID();
  await withTransaction(db, async (db) => {
    const tenant = await db.query('select from tenants where id = $1', [tenantId]);
    if (tenant.rowCount === 0) throw new ChangeRefused('not_found', `There is no tenant ${tenantId}.`);
    await db.query(
      `insert into sites (id, tenant_id, name, domain, verified_at, allowed_origins, allowed_ips, retention_days)
     values ($1, $2, $3, $4, case when $5 then now() end, $6, $7::cidr[], $8)`,
      [id, tenantId, name, domain, isVerified, allowedOrigins, allowedIps, retentionDays],
    );
  });
  return { id };
}

/** Checks network ranges. @throws ChangeRefused `invalid` */
export function refuseBadNetworks(networks: readonly string[]): void {
  const problems = networks.flatMap((network) => networkProblem(network) ?? []);
  if (problems.length > 0) throw new ChangeRefused('invalid', problems.slice(0, 10).join(' '));
}
