import { OperatorNeeded } from '../../platform/background/part.js';

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

/** No answer, or no answer in time: the events may have been appended or not. Read the stream to find out. */
export class AppendOutcomeUnknown extends Error {
  override readonly name = 'AppendOutcomeUnknown';
}

/** More bytes than one append takes; nothing was appended. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
}

/** The log refuses these events for good (an id that is elsewhere in the log, a deleted stream); nothing was appended. */
export class AppendRefused extends Error {
  override readonly name = 'AppendRefused';
}

/** The log cannot be reached or refuses to answer; nothing was appended by this call. */
export class EventLogUnavailable extends Error {
  override readonly name = 'EventLogUnavailable';
}

/** The log holds another event where the caller's must be: it was written by someone else, or an event was altered. */
export class LogDiverged extends OperatorNeeded {
  override readonly name = 'LogDiverged';
  constructor(
    readonly stream: string,
    readonly revision: number,
    reason: string,
  ) {
    super(`the event log and its source differ at stream ${stream}, revision ${revision}: ${reason}`);
  }
}

/** The log ends before a revision that the caller knows to have been appended, as after a restore from an older backup. */
export class LogBehind extends OperatorNeeded {
  override readonly name = 'LogBehind';
  constructor(
    readonly stream: string,
    readonly knownRevision: number,
    readonly actualRevision: number,
  ) {
    super(
      `Stream ${stream} of the event log ends at revision ${actualRevision}, but revision ${knownRevision} was appended before. ` +
        'If the log was restored from an older backup, run `consent-ledger admin log recover`.',
    );
  }
}

/** Postgres belongs to another event log than the one that is configured. */
export class LogIdentityMismatch extends OperatorNeeded {
  override readonly name = 'LogIdentityMismatch';
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
