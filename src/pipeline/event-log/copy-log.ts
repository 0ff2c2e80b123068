import { appendExactlyOnce } from './append-exactly-once.js';
import { LogDiverged } from './errors.js';
import { assertSameEvent, Continuity, eventSize } from './event-checks.js';
import type { EventLog, LoggedEvent, Position } from './port.js';

const PAGE = 1_000;

export interface CopyProgress {
  /** Number of events that the target already contained, from an interrupted copy. */
  readonly present: number;
  readonly copied: number;
}

/**
 * Copies a log to another one with the same streams, revisions, ids and bytes, in the same global
 * order. No process may write to either log in the meantime. An interrupted copy is continued: each
 * event of the target is compared with the source.
 * @param onProgress called after each page
 * @throws LogDiverged if the target contains anything but the beginning of the source, or another
 *   program wrote to a stream of the source
 * @throws RevisionGap if the source lacks events
 * @throws any error of reading and appending
 */
export async function copyLog(
  from: EventLog,
  to: EventLog,
  onProgress: (progress: CopyProgress) => void = () => undefined,
): Promise<CopyProgress> {
  const target = eventsOf(to);
  let atTargetsEnd = false;
  let present = 0;
  let copied = 0;
  const continuity = new Continuity(true);
  for await (const page of pagesOf(from)) {
    continuity.check(page);
    for (const event of page) assertReadable(event);
    let compared = 0;
    for (const wanted of page) {
      if (atTargetsEnd) break;
      const { value: found } = await target.next();
      if (found === undefined) {
        atTargetsEnd = true;
      } else {
        assertSamePlace(wanted, found);
        assertSameEvent(wanted, found);
        compared += 1;
      }
    }
    present += compared;
    for (const { stream, expectedRevision, events } of runsOf(page.slice(compared), to.maxAppendBytes)) {
      await appendExactlyOnce(to, stream, expectedRevision, events, { firstAttempt: true });
      copied += events.length;
    }
    onProgress({ present, copied });
  }
  if (!atTargetsEnd) {
    const { value: extra } = await target.next();
    if (extra !== undefined) throw new LogDiverged(extra.stream, extra.revision, 'the source ends before this event');
  }
  return { present, copied };
}

/** Refuses an event whose bytes cannot be read, because its copy would look like the original. */
function assertReadable({ stream, revision, data }: LoggedEvent): void {
  if (data.byteLength === 0) throw new LogDiverged(stream, revision, 'another program wrote this event');
}

function assertSamePlace(wanted: LoggedEvent, found: LoggedEvent): void {
  if (wanted.stream === found.stream && wanted.revision === found.revision) return;
  const reason = `the source has revision ${wanted.revision} of stream ${wanted.stream} at this place`;
  throw new LogDiverged(found.stream, found.revision, reason);
}

async function* pagesOf(eventLog: EventLog): AsyncGenerator<readonly LoggedEvent[], void, undefined> {
  let position: Position | null = null;
  for (let atEnd = false; !atEnd; ) {
    const page = await eventLog.readAll(position, PAGE);
    yield page.events;
    position = page.next;
    atEnd = page.atEnd;
  }
}

async function* eventsOf(eventLog: EventLog): AsyncGenerator<LoggedEvent, undefined, undefined> {
  for await (const page of pagesOf(eventLog)) yield* page;
  return undefined;
}

interface Run {
  readonly stream: string;
  readonly expectedRevision: number;
  readonly events: LoggedEvent[];
}

/**
 * Groups adjacent events of one stream, as many as one append accepts. Appending a group as a whole preserves the
 * global order.
 */
function runsOf(events: readonly LoggedEvent[], maxBytes: number): Run[] {
  const runs: Run[] = [];
  let bytes = 0;
  for (const event of events) {
    const run = runs.at(-1);
    bytes += eventSize(event);
    if (run?.stream === event.stream && bytes <= maxBytes) {
      run.events.push(event);
    } else {
      runs.push({ stream: event.stream, expectedRevision: event.revision - 1, events: [event] });
      bytes = eventSize(event);
    }
  }
  return runs;
}
