/** Position of a notice in the ledger, and the time at which the service claims to have made it. */
export interface NoticePlace {
  readonly batch: number;
  /** `created_at`, milliseconds since 1970. */
  readonly createdAt: number;
}
