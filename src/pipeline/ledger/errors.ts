import { OperatorNeeded } from '../../platform/background/part.js';

/** The `ledger` stream says something that cannot be: it was written by something else, or altered. */
export class LedgerCorrupt extends OperatorNeeded {
  override readonly name = 'LedgerCorrupt';
  constructor(
    readonly revision: number,
    reason: string,
  ) {
    super(`revision ${revision} of the stream "ledger" cannot be applied: ${reason}`);
  }
}

/** The configured ledger key is not the one that the ledger names. */
export class LedgerKeyMismatch extends OperatorNeeded {
  override readonly name = 'LedgerKeyMismatch';
  constructor(published: string | null, configured: string) {
    super(
      `the ledger is signed by key ${published ?? '(none)'}, but the service holds ${configured}. ` +
        'If the key was rotated while the service ran, restart it. Otherwise start it with the database and MASTER_KEY of this ledger.',
    );
  }
}

/** The ledger is shorter than it was, or another one: the log was restored from an older backup. */
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

/** An event stands in the log that cannot be sealed. */
export class Unsealable extends OperatorNeeded {
  override readonly name = 'Unsealable';
}

/** Another process has applied the same event of the ledger: look again. */
export class LedgerMoved extends Error {
  override readonly name = 'LedgerMoved';
}
