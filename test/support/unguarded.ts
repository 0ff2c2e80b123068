import type { LedgerGuard } from '../../src/pipeline/ledger/ledger-guard.js';

/** Lets everything pass, in tests that do not concern the head of the ledger. */
export const UNGUARDED: LedgerGuard = {
  check: async () => undefined,
  compare: async () => undefined,
  checkAppend: async () => undefined,
};
