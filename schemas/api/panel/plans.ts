import * as z from 'zod';

export const Plan = z
  .object({
    name: z.string().describe('Name of the plan.'),
    rate_limit_per_minute: z.int().describe('Requests per minute to the Tool API.'),
    consent_quota: z.int().nullable().describe('Consents per calendar month (UTC), or null for no limit.'),
  })
  .meta({ id: 'Plan' });

/** Plan of the tenant, and its use in the current month. */
export const Subscription = Plan.extend({
  is_active: z.boolean().describe('Whether the plan is active; if not, consents return 429 NO_CONSENT_SUBSCRIPTION.'),
  used_this_month: z.int().describe('Consents of the current calendar month (UTC).'),
  left_this_month: z.int().nullable().describe('Consents left in this month, or null for no limit.'),
}).meta({ id: 'Subscription' });

/** First day of a calendar month, UTC. */
export const Month = z.iso.date();

export const MonthlyUsage = z
  .object({
    month: Month.describe('First day of the calendar month (UTC).'),
    consents: z.int().describe('Number of consents.'),
  })
  .meta({ id: 'MonthlyUsage' });
