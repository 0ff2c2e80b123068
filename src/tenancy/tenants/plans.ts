/** A plan as it is sold; a subscription may differ from it. */
export interface PlanTerms {
  readonly name: string;
  readonly rateLimitPerMinute: number;
  /** Consents a calendar month; null: no limit. */
  readonly consentQuota: number | null;
}

/** The standard plan's rate is the one that the Tool API's contract promises (docs/http-api.md). */
export const PLANS = {
  standard: { name: 'standard', rateLimitPerMinute: 120, consentQuota: 1_000_000 },
  business: { name: 'business', rateLimitPerMinute: 1_200, consentQuota: 10_000_000 },
  unlimited: { name: 'unlimited', rateLimitPerMinute: 1_000_000, consentQuota: null },
} as const satisfies Record<string, PlanTerms>;
