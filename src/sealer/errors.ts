import { OperatorNeeded } from '../background/part.js';

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
  constructor(published: string, configured: string) {
    super(
      `the ledger is signed by key ${published}, but the service holds ${configured}: ` +
        'start it with the key files and MASTER_KEY that belong to this ledger.',
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
