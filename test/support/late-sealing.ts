import type { TransactionHooks } from '../../src/platform/database/pool.js';
import type { Keyring } from '../../src/platform/keys/index.js';

/** Hooks of a pool that exists before its keyring. Until `use`, nothing is sealed. */
export interface LateSealing {
  readonly hooks: TransactionHooks;
  use(keyring: Pick<Keyring, 'sealing'>): void;
}

/** Creates hooks that seal the rows of transactions, as those of an installation do. */
export function lateSealing(): LateSealing {
  let sealing: TransactionHooks | null = null;
  return {
    hooks: {
      begin: `set local consent_ledger.changed_rows = ''`,
      beforeCommit: async (db) => sealing?.beforeCommit(db),
    },
    use: (keyring) => {
      sealing = keyring.sealing;
    },
  };
}
