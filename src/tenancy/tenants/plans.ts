/** The terms of a plan; a subscription may differ. */
export interface PlanTerms {
  readonly name: string;
  readonly rateLimitPerMinute: number;
  /** Consents per calendar month (UTC); null: no limit. */
  readonly consentQuota: number | null;
}

/** The contract of the Tool API promises the rate of the standard plan (docs/http-api.md). */
export const PLANS = {
  standard: { name: 'standard', rateLimitPerMinute: 120, consentQuota: 1_000_000 },
  business: { name: 'business', rateLimitPerMinute: 1_200, consentQuota: 10_000_000 },
  unlimited: { name: 'unlimited', rateLimitPerMinute: 1_000_000, consentQuota: null },
} as const satisfies Record<string, PlanTerms>;
