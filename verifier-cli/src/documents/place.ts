/** The position of an entry in the ledger. */
export interface LedgerPlace {
  readonly batch: number;
  readonly index: number;
}

/** Whether the ledger holds `a` before `b`. */
export function isBefore(a: LedgerPlace, b: LedgerPlace): boolean {
  return a.batch < b.batch || (a.batch === b.batch && a.index < b.index);
}
