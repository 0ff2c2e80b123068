import { OperatorNeeded } from '../../platform/background/part.js';

/**
 * The log differs from the log that the service wrote: events are missing, or another program
 * wrote there. Work that depends on the log waits for an operator. Admission does not depend on
 * it, and continues.
 */
export abstract class LogDamaged extends OperatorNeeded {
  /** Stream of the log that is damaged, or null for the log as a whole. */
  abstract readonly stream: string | null;
}

/** The stream's last revision is not the expected one; nothing was appended. */
export class RevisionConflict extends Error {
  override readonly name = 'RevisionConflict';
  constructor(
    readonly stream: string,
    readonly expectedRevision: number,
    readonly actualRevision: number,
  ) {
    super(`stream ${stream} is at revision ${actualRevision}, expected ${expectedRevision}`);
  }
}

/**
 * No response arrived in time: the events may have been appended or not. The caller reads the
 * stream to find out.
 */
export class AppendOutcomeUnknown extends Error {
  override readonly name = 'AppendOutcomeUnknown';
}

/** The events exceed the bytes of one append; nothing was appended. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
}

/** The log permanently refuses these events, for example because the stream was deleted; nothing was appended. */
export class AppendRefused extends Error {
  override readonly name = 'AppendRefused';
}

/** The log is unreachable or refuses to respond; this call appended nothing. */
export class EventLogUnavailable extends Error {
  override readonly name = 'EventLogUnavailable';
}

/**
 * The log has a different event at the position of the caller's event. Another program wrote it, or an event was
 * altered.
 */
export class LogDiverged extends LogDamaged {
  override readonly name = 'LogDiverged';
  constructor(
    readonly stream: string,
    readonly revision: number,
    reason: string,
  ) {
    super(`the event log and its source differ at stream ${stream}, revision ${revision}: ${reason}`);
  }
}

/**
 * The log ends before a revision that is recorded as appended, as after a restore from an older
 * backup, or after the stream was deleted.
 */
export class LogBehind extends LogDamaged {
  override readonly name = 'LogBehind';
  constructor(
    readonly stream: string,
    readonly knownRevision: number,
    readonly actualRevision: number,
  ) {
    super(
      `Stream ${stream} of the event log ${actualRevision < 0 ? 'is empty or was deleted' : `ends at revision ${actualRevision}`}, ` +
        `but revision ${knownRevision} was appended before. ` +
        'If the log was restored from an older backup, run `consent-ledger admin log recover`.',
    );
  }
}

/**
 * The next event of a stream does not have the next revision. Either revisions are missing before it, because the
 * server removed the first events (`$maxCount`, `$maxAge`, `$tb`, a deletion followed by an append), or the revision
 * was already read, because the log was emptied while a reader followed it.
 */
export class RevisionGap extends LogDamaged {
  override readonly name = 'RevisionGap';
  constructor(
    readonly stream: string,
    readonly expectedRevision: number,
    readonly foundRevision: number,
  ) {
    super(
      foundRevision < expectedRevision
        ? `Stream ${stream} of the event log goes on with revision ${foundRevision}, which was read before, instead of revision ${expectedRevision}: ` +
            'another log was put in the place of this one, or it was restored from an older backup. ' +
            'See docs/restore.md.'
        : `Stream ${stream} of the event log lacks ${foundRevision - expectedRevision} events, revisions ${expectedRevision} to ${foundRevision - 1}. ` +
            'Remove `$maxCount`, `$maxAge` and `$tb` from its metadata: events that no scavenge removed are there again. ' +
            'For others, restore a backup of the event log.',
    );
  }
}

/** PostgreSQL belongs to another event log than the configured one. */
export class LogIdentityMismatch extends LogDamaged {
  override readonly name = 'LogIdentityMismatch';
  override readonly stream = null;
  constructor(
    readonly storedIdentity: string,
    readonly foundIdentity: string | null,
  ) {
    super(
      `the database belongs to event log ${storedIdentity}, but the configured event log ` +
        `${foundIdentity === null ? 'has no identity (it is empty)' : `is ${foundIdentity}`}. ` +
        'Correct EVENTSTORE_URL or DATABASE_URL. To move to another event log, fill it with `consent-ledger admin log copy`. ' +
        'If the log was lost or restored from an older backup, run `consent-ledger admin log recover`.',
    );
  }
}
