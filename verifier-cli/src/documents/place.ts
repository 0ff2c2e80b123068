/** The position of an entry in the ledger. */
export interface LedgerPlace {
  readonly batch: number;
  readonly index: number;
}

/**
 * Whether `a` came after `b`, which is of another stream. Batches are sorted by stream, so that the
 * ledger shows the order of two streams only from batch to batch.
 */
export function isAfter(a: LedgerPlace, b: LedgerPlace): boolean {
  return a.batch > b.batch;
}
