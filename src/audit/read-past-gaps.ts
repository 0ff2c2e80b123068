import { RevisionGap } from '../pipeline/event-log/errors.js';
import type { EventLog, StreamEvent } from '../pipeline/event-log/port.js';

/**
 * Reads the next events of a stream that the log still has: revisions that it lacks must not end the
 * audit.
 * @param from the first revision that is wanted
 * @param onGap called with the gap before the events, for a section that reports it
 * @returns at most `limit` events without a gap between them; empty at the end of the stream
 */
export async function readPastGaps(
  eventLog: Pick<EventLog, 'readStream'>,
  stream: string,
  from: number,
  limit: number,
  onGap: (gap: RevisionGap) => void = () => undefined,
): Promise<readonly StreamEvent[]> {
  try {
    return await eventLog.readStream(stream, from, limit);
  } catch (error) {
    if (!(error instanceof RevisionGap)) throw error;
    const known = error.expectedRevision - from;
    if (known > 0) return await eventLog.readStream(stream, from, known);
    onGap(error);
    return await readPastGaps(eventLog, stream, error.foundRevision, limit, onGap);
  }
}
