import * as z from 'zod';
import { InputInteger } from '../../../../schemas/api/common.js';
import { PLANS, type PlanTerms } from '../../../tenancy/tenants/tenants.js';
import type { PanelRoutesOptions } from '../deps.js';
import { keyOfCursor, pageOfRows } from '../page.js';
import { type PanelRoute, reads } from '../route.js';
import * as operations from './operations.js';
import { subscriptionOf, usagePage } from './show-usage.js';

const PlanCursor = z.tuple([InputInteger]);

/** Every user can read the plans; subscription and usage are those of the user's tenant. */
export function planRoutes({ apiPool }: PanelRoutesOptions): readonly PanelRoute[] {
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
    reads(operations.readSubscription, async ({ user }) => ({ data: await subscriptionOf(apiPool, user.tenantId) })),
    reads(operations.listUsage, ({ user, query }) => usagePage(apiPool, user.tenantId, query)),
  ];
}
