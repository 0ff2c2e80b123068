import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { TenantName } from '../../../schemas/api/panel/tenants.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';

/** The terms of a plan; a subscription may differ. */
export interface PlanTerms {
  readonly name: string;
  readonly rateLimitPerMinute: number;
  /** Consents per calendar month (UTC), or null if there is no limit. */
  readonly consentQuota: number | null;
}

/** The contract of the Tool API promises the rate of the standard plan (docs/http-api.md). */
export const PLANS = {
  standard: { name: 'standard', rateLimitPerMinute: 120, consentQuota: 1_000_000 },
  business: { name: 'business', rateLimitPerMinute: 1_200, consentQuota: 10_000_000 },
  unlimited: { name: 'unlimited', rateLimitPerMinute: 1_000_000, consentQuota: null },
} as const satisfies Record<string, PlanTerms>;

/**
 * Creates a tenant, with a subscription if a plan is given.
 * @param madeBy tenant of the user who creates it, or null for an operator
 * @throws ChangeRefused `invalid`
 */
export function createTenant(
  db: Queryable,
  name: string,
  plan: PlanTerms | null,
  madeBy: string | null = null,
): Promise<{ readonly id: string }> {
  const id = randomUUID();
  return withTransaction(db, async (db) => {
    await db.query('insert into tenants (id, name, made_by_tenant) values ($1, $2, $3)', [
      id,
      accepted(TenantName, name, 'name'),
      madeBy,
    ]);
    if (plan !== null) await putSubscription(db, id, plan);
    return { id };
  });
}

/**
 * Changes the plan of a tenant immediately, or ends its subscription.
 * @param plan null ends the subscription
 * @throws ChangeRefused `not_found`
 */
export function changeSubscription(db: Queryable, tenantId: string, plan: PlanTerms | null): Promise<void> {
  return withTransaction(db, async (db) => {
    const { rowCount } = await db.query('select from tenants where id = $1', [tenantId]);
    if (rowCount === 0) throw new ChangeRefused('not_found', `There is no tenant ${tenantId}.`);
    // Locks the same rows as admission, in the same order, so that the two cannot deadlock.
    await db.query('select from sites where tenant_id = $1 order by id for no key update', [tenantId]);
    if (plan === null) await db.query('update subscriptions set is_active = false where tenant_id = $1', [tenantId]);
    else await putSubscription(db, tenantId, plan);
    await db.query('update sites set config_revision = config_revision + 1 where tenant_id = $1', [tenantId]);
  });
}

/**
 * Renames a tenant.
 * @returns the name before
 * @throws ChangeRefused `not_found`, `invalid`
 */
export async function renameTenant(db: Queryable, tenantId: string, name: string): Promise<string> {
  const wanted = accepted(TenantName, name, 'name');
  const { rows } = await db.query('select name from tenants where id = $1 for no key update', [tenantId]);
  const [row] = NameRows.parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no tenant ${tenantId}.`);
  await db.query('update tenants set name = $2 where id = $1', [tenantId, wanted]);
  return row.name;
}

const NameRows = z.array(z.object({ name: z.string() }));

async function putSubscription(db: Queryable, tenantId: string, plan: PlanTerms): Promise<void> {
  await db.query(
    `insert into subscriptions (tenant_id, plan, is_active, rate_limit_per_minute, consent_quota) values ($1, $2, true, $3, $4)
     on conflict (tenant_id) do update set plan = excluded.plan, is_active = true,
       rate_limit_per_minute = excluded.rate_limit_per_minute, consent_quota = excluded.consent_quota`,
    [tenantId, plan.name, plan.rateLimitPerMinute, plan.consentQuota],
  );
}
