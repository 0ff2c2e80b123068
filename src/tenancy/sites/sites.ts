import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import {
  AllowedIps,
  AllowedOrigins,
  type ChangeSiteRequest,
  RetentionRules,
  SiteDomain,
  SiteName,
} from '../../../schemas/api/panel/sites.js';
import { Uuid } from '../../../schemas/evidence/primitives.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';
import { networkProblem } from '../../platform/net/addresses.js';
import { changeSite, setRetention } from './change-site.js';

export const NewSite = z.object({
  tenantId: Uuid,
  name: SiteName,
  domain: SiteDomain,
  /** Whether an operator vouches for the domain. */
  isVerified: z.boolean(),
  allowedOrigins: AllowedOrigins,
  /** Addresses and CIDR ranges; the host bits of a range must be zero. */
  allowedIps: AllowedIps,
  /** Retention rules. Without them, no record is erased by age. */
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
      `insert into sites (id, tenant_id, name, domain, verified_at, proof, allowed_origins, allowed_ips)
     values ($1, $2, $3, $4, case when $5 then now() end, case when $5 then 'operator' end, $6, $7::cidr[])`,
      [id, tenantId, name, domain, isVerified, allowedOrigins, allowedIps],
    );
    if (retention !== undefined) await setRetention(db, id, retention);
  });
  return { id };
}

/** Checks network ranges. @throws ChangeRefused `invalid` */
function refuseBadNetworks(networks: readonly string[]): void {
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

export type SiteSettings = z.output<typeof ChangeSiteRequest>;

/**
 * Changes settings of a site; absent members remain unchanged. A new domain is unverified until the
 * tenant proves that it controls it.
 * @returns the names of the changed members
 * @throws ChangeRefused `not_found`, `invalid`
 */
export function changeSiteSettings(db: Queryable, siteId: string, settings: SiteSettings): Promise<readonly string[]> {
  refuseBadNetworks(settings.allowed_ips ?? []);
  return changeSite(db, siteId, async ({ db: client }) => {
    const changed: string[] = [];
    const set = async (column: string, isOther: string, assignments: string, value: unknown): Promise<void> => {
      if (value === undefined) return;
      const { rowCount } = await client.query(`update sites set ${assignments} where id = $1 and ${isOther}`, [
        siteId,
        value,
      ]);
      if (rowCount !== 0) changed.push(column);
    };
    await set('name', 'name <> $2', 'name = $2', settings.name);
    await set(
      'domain',
      'domain <> $2',
      `domain = $2, verified_at = null, proof = null, proof_looked_at = null, proof_failing_since = null,
       verification_token = replace(gen_random_uuid()::text, '-', '')`,
      settings.domain,
    );
    await set(
      'allowed_origins',
      'allowed_origins <> $2::text[]',
      'allowed_origins = $2::text[]',
      settings.allowed_origins,
    );
    await set('allowed_ips', 'allowed_ips <> $2::cidr[]', 'allowed_ips = $2::cidr[]', settings.allowed_ips);
    return changed;
  });
}

const TenantRows = z.array(z.object({ tenant_id: z.string() }));

/** Finds the tenant of a site. @throws ChangeRefused `not_found` */
export async function tenantOfSite(db: Queryable, siteId: string): Promise<string> {
  const { rows } = await db.query('select tenant_id from sites where id = $1', [siteId]);
  const [row] = TenantRows.parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no site ${siteId}.`);
  return row.tenant_id;
}
