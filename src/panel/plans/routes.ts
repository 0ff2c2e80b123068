import { z } from 'zod';
import { PLANS, type PlanTerms } from '../../catalogue/plans.js';
import type { PanelDeps } from '../deps.js';
import { keyOfCursor, pageOfRows } from '../page.js';
import { type PanelRoute, reads } from '../route.js';
import * as operations from './operations.js';

const SubscriptionRow = z.object({
  name: z.string(),
  rate_limit_per_minute: z.int(),
  consent_quota: z.int().nullable(),
  is_active: z.boolean(),
  used: z.int(),
});
const UsageRow = z.object({ month: z.string(), consents: z.int() });
const UsageCursor = z.tuple([z.iso.date()]);
const PlanCursor = z.tuple([z.int()]);

export function planRoutes({ apiPool }: PanelDeps): readonly PanelRoute[] {
  return [
    reads(operations.listPlans, async ({ query }) => {
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
    }),
    reads(operations.readSubscription, async ({ user }) => {
      const { rows } = await apiPool.query(
        `select coalesce(s.plan, 'none') as name, coalesce(s.rate_limit_per_minute, 120) as rate_limit_per_minute,
                case when s.tenant_id is null then 0 else s.consent_quota end as consent_quota,
                coalesce(s.is_active, false) as is_active, coalesce(u.used, 0) as used
           from tenants t
           left join subscriptions s on s.tenant_id = t.id
           left join consent_usage u on u.tenant_id = t.id and u.month = date_trunc('month', now() at time zone 'UTC')::date
          where t.id = $1`,
        [user.tenantId],
      );
      const [{ used, ...row }] = z.tuple([SubscriptionRow]).parse(rows);
      const left = row.consent_quota === null ? null : Math.max(0, row.consent_quota - used);
      return { data: { ...row, used_this_month: used, left_this_month: left } };
    }),
    reads(operations.listUsage, async ({ user, query }) => {
      const [before] = keyOfCursor(UsageCursor, query) ?? [null];
      const { rows } = await apiPool.query(
        `select to_char(month, 'YYYY-MM-DD') as month, used as consents from consent_usage
          where tenant_id = $1 and ($2::date is null or month < $2) order by month desc limit $3`,
        [user.tenantId, before, query.limit + 1],
      );
      return pageOfRows(
        query,
        z.array(UsageRow).parse(rows),
        ({ month }) => [month],
        (row) => row,
      );
    }),
  ];
}
