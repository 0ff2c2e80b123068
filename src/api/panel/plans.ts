import * as z from 'zod';
import { InputDate, InputInteger } from '../../../schemas/api/common.js';
import { dataOf, PageQuery, pageOf } from '../../../schemas/api/panel/common.js';
import { MonthlyUsage, Plan, Subscription } from '../../../schemas/api/panel/plans.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { PLANS, type PlanTerms } from '../../tenancy/tenants/tenants.js';
import { READERS } from './caller.js';
import { route } from './deps.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows } from './page.js';

const shared = { auth: 'panel', tag: 'Plans', roles: READERS } as const;

/** Every user can read the plans; subscription and usage are those of the user's tenant. */
export const PLAN_OPERATIONS = [
  route({
    ...shared,
    id: 'listPlans',
    path: '/api/v1/plans',
    summary: 'List the plans',
    query: PageQuery,
    response: pageOf(Plan),
    handle: async ({ query }) => {
      const [after] = keyOfCursor(PlanCursor, query) ?? [-1];
      const plans = Object.values(PLANS).map((terms: PlanTerms, index) => ({ terms, index }));
      return pageOfRows(
        query,
        plans.filter(({ index }) => index > after),
        ({ index }) => [index],
        ({ terms }) => ({
          name: terms.name,
          rate_limit_per_minute: terms.rateLimitPerMinute,
          consent_quota: terms.consentQuota,
        }),
      );
    },
  }),
  route({
    ...shared,
    id: 'readSubscription',
    path: '/api/v1/subscription',
    summary: 'Get the plan of the tenant and the quota left in this month',
    description: 'The operator of the service assigns plans.',
    response: dataOf(Subscription),
    handle: async ({ user }, { apiPool }) => ({ data: await subscriptionOf(apiPool, user.tenantId) }),
  }),
  route({
    ...shared,
    id: 'listUsage',
    path: '/api/v1/usage',
    summary: 'List the consents of each month that count towards the quota, newest first',
    query: PageQuery,
    response: pageOf(MonthlyUsage),
    handle: ({ user, query }, { apiPool }) => usagePage(apiPool, user.tenantId, query),
  }),
];

const PlanCursor = z.tuple([InputInteger]);

const SubscriptionRows = z.array(
  z.object({
    name: z.string(),
    rate_limit_per_minute: z.int(),
    consent_quota: z.int().nullable(),
    is_active: z.boolean(),
    used: z.int(),
  }),
);

/**
 * Returns the subscription of a tenant and the number of consents left in this month.
 * @throws ChangeRefused `not_found`
 */
export async function subscriptionOf(db: Queryable, tenantId: string): Promise<z.infer<typeof Subscription>> {
  const { rows } = await db.query(
    `select coalesce(s.plan, 'none') as name, coalesce(s.rate_limit_per_minute, 120) as rate_limit_per_minute,
            case when s.tenant_id is null then 0 else s.consent_quota end as consent_quota,
            coalesce(s.is_active, false) as is_active, coalesce(u.used, 0) as used
       from tenants t
       left join subscriptions s on s.tenant_id = t.id
       left join consent_usage u on u.tenant_id = t.id and u.month = date_trunc('month', now() at time zone 'UTC')::date
      where t.id = $1`,
    [tenantId],
  );
  const [row] = SubscriptionRows.parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no tenant ${tenantId}.`);
  const { used, ...plan } = row;
  const left = plan.consent_quota === null ? null : Math.max(0, plan.consent_quota - used);
  return { ...plan, used_this_month: used, left_this_month: left };
}

const UsageRow = z.object({ month: z.string(), consents: z.int() });
const UsageCursor = z.tuple([InputDate]);

/** A page of a tenant's months, newest first. @throws ApiError VALIDATION_ERROR */
export async function usagePage(
  db: Queryable,
  tenantId: string,
  page: PageRequest,
): Promise<Page<z.infer<typeof MonthlyUsage>>> {
  const [before] = keyOfCursor(UsageCursor, page) ?? [null];
  const { rows } = await db.query(
    `select to_char(month, 'YYYY-MM-DD') as month, used as consents from consent_usage
      where tenant_id = $1 and ($2::date is null or month < $2) order by month desc limit $3`,
    [tenantId, before, page.limit + 1],
  );
  return pageOfRows(
    page,
    z.array(UsageRow).parse(rows),
    ({ month }) => [month],
    (row) => row,
  );
}
