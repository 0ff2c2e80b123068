import { z } from 'zod';

export const Plan = z.object({
  name: z.string(),
  /** Requests a minute to the Tool API. */
  rate_limit_per_minute: z.int(),
  /** Consents a calendar month (UTC); null: no limit. */
  consent_quota: z.int().nullable(),
});

/** What the tenant has subscribed to. */
export const Subscription = Plan.extend({
  /** False: consents are answered 429 NO_CONSENT_SUBSCRIPTION. */
  is_active: z.boolean(),
  /** Of this calendar month (UTC). */
  used_this_month: z.int(),
  /** Null: no limit. */
  left_this_month: z.int().nullable(),
});

/** First day of a calendar month, UTC. */
export const Month = z.iso.date();

export const MonthlyUsage = z.object({ month: Month, consents: z.int() });
