import { OperatorNeeded } from '../../platform/background/part.js';

/** The `ledger` stream contains an invalid event: another program wrote it, or it was altered. */
export class LedgerCorrupt extends OperatorNeeded {
  override readonly name = 'LedgerCorrupt';
  constructor(
    readonly revision: number,
    reason: string,
  ) {
    super(`revision ${revision} of the stream "ledger" cannot be applied: ${reason}`);
  }
}

/** The configured ledger key is not the key of the ledger. */
export class LedgerKeyMismatch extends OperatorNeeded {
  override readonly name = 'LedgerKeyMismatch';
  constructor(published: string | null, configured: string) {
    super(
      `the ledger is signed by key ${published ?? '(none)'}, but the service holds ${configured}. ` +
        'If the key was rotated while the service ran, restart it. Otherwise start it with the database and MASTER_KEY of this ledger.',
    );
  }
}

/**
 * The ledger is shorter than before, or a different one: the log was restored from an older backup.
 */
export class LedgerRolledBack extends OperatorNeeded {
  override readonly name = 'LedgerRolledBack';
  constructor(
    readonly knownSize: number,
    readonly size: number,
    path: string,
  ) {
    super(
      `The ledger had ${knownSize} Merkle batches (${path}), but the ledger in the event log has ${size} and does not continue it. ` +
        'The event log was restored from an older backup, or belongs to another ledger. Restore a newer backup. If the Merkle batches since then are lost for ' +
        'good, read docs/restore.md and run `consent-ledger admin log accept-restore`.',
    );
  }
}

/** The log contains an event that cannot be sealed. */
export class Unsealable extends OperatorNeeded {
  override readonly name = 'Unsealable';
}

/** Another process applied the same event of the ledger; the caller reads the state again. */
export class LedgerMoved extends Error {
  override readonly name = 'LedgerMoved';
}
