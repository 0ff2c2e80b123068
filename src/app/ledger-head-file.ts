import { dirname, join } from 'node:path';
import { type LedgerHeadFile, openLedgerHeadFile } from '../pipeline/ledger/ledger-head.js';
import type { Config } from '../platform/config/index.js';

/** Where the ledger's head is remembered: beside the erasure journal, which has to be kept apart from the database too. */
export function ledgerHeadFile(config: Config): LedgerHeadFile {
  return openLedgerHeadFile(join(dirname(config.erasureJournal), 'ledger-head.json'));
}
