import { dirname, join } from 'node:path';
import { type LedgerHeadFile, openLedgerHeadFile } from '../pipeline/ledger/head-file.js';
import type { Config } from '../platform/config/index.js';

/**
 * The file with the ledger's head, in the folder of the erasure journal. Both must be kept apart
 * from the database.
 */
export function ledgerHeadFile(config: Config): LedgerHeadFile {
  return openLedgerHeadFile(join(dirname(config.erasureJournal), 'ledger-head.json'));
}
