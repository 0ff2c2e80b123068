import { LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { OperatorNeeded } from '../../platform/background/part.js';
import { LogDamaged } from '../event-log/errors.js';

/** The `ledger` stream contains an invalid event: another program wrote it, or it was altered. */
export class LedgerCorrupt extends LogDamaged {
  override readonly name = 'LedgerCorrupt';
  override readonly stream = LEDGER_STREAM;
  constructor(
    readonly revision: number,
    readonly reason: string,
  ) {
    super(
      `revision ${revision} of the stream "ledger" cannot be applied: ${reason}. ` +
        'Nothing is sealed or stamped until an operator acts: docs/restore.md, “An event of the ledger cannot be applied”.',
    );
  }
}

/** An event that the ledger's rules forbid was not appended, because it would have stopped every worker. */
export class LedgerRefused extends Error {
  override readonly name = 'LedgerRefused';
  constructor(type: string, reason: string) {
    super(`${type} was not appended to the stream "ledger", because no worker could apply it: ${reason}`);
  }
}

/**
 * A row that the service derives from the log contradicts the log. The log is authoritative, so the part retries and
 * continues when the row is correct again.
 */
export class TablesDiffer extends Error {
  override readonly name = 'TablesDiffer';
  constructor(table: string, key: string, reason: string) {
    super(
      `The row ${key} of the table ${table} contradicts the event log: ${reason}. Nothing was appended. ` +
        'Restore the row: `consent-ledger audit` shows what differs.',
    );
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

/**
 * The ledger has Merkle batches, but the file with its head is missing: this may be a restored copy
 * of an installation that works elsewhere, and two of them would sign two histories.
 */
export class LedgerHeadMissing extends OperatorNeeded {
  override readonly name = 'LedgerHeadMissing';
  constructor(size: number, path: string) {
    super(
      `The ledger has ${size} Merkle batches, but ${path}, which says what this installation signed last, does not exist. ` +
        'On a copy for a rehearsal, start no worker: `consent-ledger admin backup verify` checks the copy. If this installation is the one that signs, ' +
        'put the file back, or run `consent-ledger admin ledger adopt` after you have read docs/restore.md.',
    );
  }
}

/**
 * This process does not have the head of the ledger, and no process that has it has compared it on this database server
 * yet. This process waits.
 */
export class LedgerNotCompared extends Error {
  override readonly name = 'LedgerNotCompared';
  constructor(server: string, path: string) {
    super(
      `No worker has compared the ledger on the database server ${server} (system and time line) yet, and ${path} does not exist here. ` +
        'Start a worker, or give this process the folder with ledger-head.json.',
    );
  }
}

/** The file with the head of the ledger does not contain one. */
export class LedgerHeadUnreadable extends OperatorNeeded {
  override readonly name = 'LedgerHeadUnreadable';
  constructor(path: string, cause: unknown) {
    super(
      `${path} does not contain the head of a ledger. Put its newest copy back. If there is none, remove the file and run ` +
        '`consent-ledger admin ledger adopt` after you have read docs/restore.md.',
      { cause },
    );
  }
}

/** The log contains an event that cannot be sealed. */
export class Unsealable extends LogDamaged {
  override readonly name = 'Unsealable';
  override readonly stream = null;
}

/** Another process applied the same event of the ledger; the caller reads the state again. */
export class LedgerMoved extends Error {
  override readonly name = 'LedgerMoved';
}
