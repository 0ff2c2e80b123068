/** Where in the ledger a notice is, and when the service claims to have made it. */
export interface NoticePlace {
  readonly batch: number;
  /** `created_at`, milliseconds since 1970. */
  readonly createdAt: number;
}
