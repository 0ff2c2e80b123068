import { AppendOutcomeUnknown, AppendTooLarge, LogBehind, LogDiverged, RevisionConflict } from './errors.js';
import { assertSameEvent, eventSize } from './event-checks.js';
import type { EventLog, NewEvent } from './port.js';

/**
 * Number of consecutive appends that may fail with an unknown outcome or a conflict before the last
 * failure is thrown.
 */
const MAX_FAILURES = 5;
const PAGE = 200;

export interface AppendExactlyOnceOptions {
  /**
   * True only if no process has ever sent these events before. This saves reading the stream before the first append.
   */
  readonly firstAttempt?: boolean;
}

/** Revisions of the events: event n has revision `firstRevision + n`. */
export interface AppendedRange {
  readonly firstRevision: number;
  readonly lastRevision: number;
}

/**
 * Appends events so that the stream contains each of them exactly once, however often it is called
 * with them. This holds after a lost response, a conflict or a crash, and also if the failed call
 * had fewer events. The events are split into runs that one append accepts.
 * @param expectedRevision revision of the event before `events[0]`, as at the first attempt;
 *   `NO_STREAM` (-1) if there is none
 * @param events any number of events, none of them larger than `log.maxAppendBytes`
 * @throws LogDiverged if the stream has a different event, or different bytes, at the position of one of these events
 * @throws LogBehind if the stream ends before `expectedRevision`
 * @throws AppendTooLarge, AppendRefused, EventLogUnavailable
 * @throws AppendOutcomeUnknown, RevisionConflict if the log keeps failing in this way; the caller
 *   retries later
 */
export async function appendExactlyOnce(
  eventLog: EventLog,
  stream: string,
  expectedRevision: number,
  events: readonly NewEvent[],
  options: AppendExactlyOnceOptions = {},
): Promise<AppendedRange> {
  let done = 0;
  let failures = 0;
  if (options.firstAttempt !== true) done = await countPresent(eventLog, stream, expectedRevision, events, done);
  while (done < events.length) {
    const run = nextRun(events, done, eventLog.maxAppendBytes);
    try {
      await eventLog.append(stream, expectedRevision + done, run);
      done += run.length;
      failures = 0;
    } catch (error) {
      if (!(error instanceof AppendOutcomeUnknown || error instanceof RevisionConflict)) throw error;
      if (error instanceof RevisionConflict && error.actualRevision < expectedRevision + done) {
        throw new LogBehind(stream, expectedRevision + done, error.actualRevision);
      }
      failures += 1;
      if (failures > MAX_FAILURES) throw error;
      done = await countPresent(eventLog, stream, expectedRevision, events, done);
    }
  }
  return { firstRevision: expectedRevision + 1, lastRevision: expectedRevision + events.length };
}

/**
 * Returns how many of the first events the stream contains. Events before `known` are not read
 * again.
 */
async function countPresent(
  eventLog: EventLog,
  stream: string,
  expectedRevision: number,
  events: readonly NewEvent[],
  known: number,
): Promise<number> {
  let present = known;
  while (present < events.length) {
    const page = await eventLog.readStream(
      stream,
      expectedRevision + 1 + present,
      Math.min(events.length - present, PAGE),
    );
    if (page.length === 0) break;
    for (const found of page) {
      const wanted = events[present];
      const revision = expectedRevision + 1 + present;
      if (wanted === undefined || found.revision !== revision)
        throw new LogDiverged(stream, revision, 'a revision is missing');
      assertSameEvent(wanted, found);
      present += 1;
    }
  }
  return present;
}

/**
 * Returns the longest run of events from `start` that one append accepts, at least one event.
 * @throws AppendTooLarge if it accepts not even one
 */
export function nextRun(events: readonly NewEvent[], start: number, maxBytes: number): NewEvent[] {
  let end = start;
  let bytes = 0;
  for (let event = events[end]; event !== undefined; event = events[end]) {
    bytes += eventSize(event);
    if (bytes > maxBytes) break;
    end += 1;
  }
  if (end === start) {
    throw new AppendTooLarge(`event ${events[start]?.id} is larger than the ${maxBytes} bytes of one append`);
  }
  return events.slice(start, end);
}
