import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Database } from '../database/pool.js';
import { CatalogueError } from './catalogue-error.js';

const Origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  error: (issue) => `${String(issue.input)} is not an origin like https://example.org`,
});
const Cidr = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], {
  error: (issue) => `${String(issue.input)} is not an address or a CIDR range`,
});

export const NewSite = z.object({
  tenantId: z.uuid(),
  name: z.string().min(1).max(300),
  domain: z.hostname().max(253),
  isVerified: z.boolean(),
  allowedOrigins: z.array(Origin).max(100),
  /** Addresses and ranges; a range's host bits must be zero. */
  allowedIps: z.array(Cidr).max(1000),
  /** Days after which a record is erased; null: never. */
  retentionDays: z.int().min(1).max(36_500).nullable().default(null),
});
export type NewSite = z.input<typeof NewSite>;

/**
 * Makes a site of a tenant.
 * @throws CatalogueError `invalid`, `not_found` (the tenant)
 */
export async function createSite(database: Database, site: NewSite): Promise<{ readonly id: string }> {
  const checked = NewSite.safeParse(site);
  if (!checked.success) throw new CatalogueError('invalid', z.prettifyError(checked.error));
  const { tenantId, name, domain, isVerified, allowedOrigins, allowedIps, retentionDays } = checked.data;
  const tenant = await database.query('select from tenants where id = $1', [tenantId]);
  if (tenant.rowCount === 0) throw new CatalogueError('not_found', `There is no tenant ${tenantId}.`);
  const id = randomUUID();
  await database.query(
    `insert into sites (id, tenant_id, name, domain, verified_at, allowed_origins, allowed_ips, retention_days)
     values ($1, $2, $3, $4, case when $5 then now() end, $6, $7::cidr[], $8)`,
    [id, tenantId, name, domain, isVerified, allowedOrigins, allowedIps, retentionDays],
  );
  return { id };
}
