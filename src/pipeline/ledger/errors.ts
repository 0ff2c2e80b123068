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
        'If the key was rotated while it ran, start it again; else start it with the database and MASTER_KEY of this ledger.',
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
      `the ledger has had ${knownSize} batches (${path}); the one in the event log has ${size}, and does not continue it. ` +
        'The event log was restored from an older backup, or belongs to another ledger: restore a newer one. If what was sealed since is lost for ' +
        'good, run `consent-ledger admin log accept-restore` (docs/restore.md says what that means).',
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
