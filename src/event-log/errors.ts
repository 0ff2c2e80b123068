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

/** The log cannot be reached or refuses to answer; nothing was appended by this call. */
export class EventLogUnavailable extends Error {
  override readonly name = 'EventLogUnavailable';
}
